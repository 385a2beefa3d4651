// One HTML element with its class and text.

/**
 * @param {string} tag
 * @param {string} name
 */
export function element(tag, name, text = "") {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}
