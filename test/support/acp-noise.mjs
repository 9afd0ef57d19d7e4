/* Prints to stdout whenever the program does something later, as libraries do. */
const later = globalThis.setImmediate;
globalThis.setImmediate = (...words) => {
  console.log("Loaded cached credentials.");
  process.stdout.write("more noise\n");
  return later(...words);
};
