// A picture lives in the root of its component from the first message until it is unmounted.

/**
 * The picture in this root: the one that is there, or what `make(room)` makes of new furniture. Returns
 * it with what Streamlit calls at the end. It calls that too when the next message came while the
 * program was loaded: then the picture is no longer that call's to close.
 */
function mounted(root, furniture, make) {
  if (!root.picture) {
    const room = document.createElement("div");
    room.innerHTML = furniture;
    root.append(room);
    root.picture = make(room);
  }
  const call = (root.picture.call = {});
  const unmount = () => {
    if (root.picture?.call !== call) return;
    root.picture.close();
    root.picture.room.remove();
    root.picture = null;
  };
  return [root.picture, unmount];
}
