// What Python packs (see dashboard/canvas/__init__.py): the length of a JSON text, the text, and the
// arrays it describes, each at a multiple of eight bytes, counted from the first.

const ARRAY_TYPES = { float32: Float32Array, int32: Int32Array, int8: Int8Array };

function unpack(bytes) {
  // a copy, because a typed array must begin at a multiple of its item size
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const begin = Math.ceil((4 + length) / 8) * 8;
  const arrays = {};
  for (const { name, type, offset, count } of head.arrays) {
    arrays[name] = new ARRAY_TYPES[type](buffer, begin + offset, count);
  }
  return { ...head.about, ...arrays };
}
