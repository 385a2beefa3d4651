// A picture lives in the root of its component from the first message until it is unmounted for good.

const ABSENCE = 2000; // milliseconds
const absent = new Map(); // by name: pictures that were taken off the page and may come back

/**
 * The picture in this root: the one that is there, or what `make(room)` makes of new furniture. What it
 * has to say it tells to `send`. Returns it with what Streamlit calls at the end. It calls that too when
 * the next message came while the program was loaded: then the picture is no longer that call's to take
 * away.
 *
 * While the server is busy Streamlit may take a component off the page and put it there again at once;
 * what people have done with it must not get lost by that. So a picture waits before it is closed.
 */
function mounted(root, name, send, make) {
  const back = root.picture ? null : returned(root, name);
  root.picture ??= back ?? made(root, name, make);
  root.picture.send = send; // by the component that is there now
  back?.comeBack();
  const call = (root.picture.call = {});
  const unmount = () => {
    const { picture } = root;
    if (picture?.call !== call) return;
    root.picture = null;
    picture.room.remove();
    picture.leave();
    absent.set(name, picture);
    picture.closing = setTimeout(() => {
      absent.delete(name);
      picture.close();
    }, ABSENCE);
  };
  return [root.picture, unmount];
}

function made(root, name, make) {
  const room = document.createElement("div");
  room.innerHTML = FURNITURE[name];
  root.append(room);
  return make(room);
}

function returned(root, name) {
  const picture = absent.get(name);
  if (!picture) return null;
  absent.delete(name);
  clearTimeout(picture.closing);
  root.append(picture.room);
  return picture;
}
