/** Takes what `cloud_message` packs. */
export function feed({ data, setTriggerValue }) {
  const cloud = unpack(data);
  if (cloud.xy) {
    clouds().clear(); // only the latest is on screen
    clouds().set(cloud.id, cloud);
    window.dispatchEvent(new Event("rhmm-cloud"));
  } else if (![...clouds().values()].some(({ name }) => name === cloud.name)) {
    setTriggerValue("missing", true); // it was sent, and taken back on the way
  }
}
