/** Writes the API reference into a folder, which is emptied first. */
export const writeApiDocs: (folder: string) => Promise<void>;
