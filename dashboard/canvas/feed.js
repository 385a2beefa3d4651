export default function ({ data }) {
  const cloud = unpack(data);
  clouds().clear(); // only the latest is on screen
  clouds().set(cloud.id, cloud);
  window.dispatchEvent(new Event("rhmm-cloud"));
}
