import { ensureFolderPath } from "../../world/ensure-folder.ts";
import { join } from "node:path";
import { DiskError, type Disk, type Folder } from "../../world/disk.ts";
import { fingerprint } from "../../hash.ts";
import { PolicyError } from "../error.ts";

/** Stores permanent answers of the user, one file each, so that concurrent writers lose none. */
export type AnswerStore = {
  /** Whether one of these answers is stored. Files that other users can write do not count. */
  readonly has: (...candidates: readonly StoredAnswer[]) => Promise<boolean>;
  /** Stores an answer. Throws if its path is not a regular file. */
  readonly save: (answer: StoredAnswer) => Promise<void>;
  /** Lists all answers, except files that other users can write. */
  readonly list: () => Promise<readonly StoredAnswer[]>;
  /** Removes an answer. False if it was not stored. */
  readonly remove: (answer: StoredAnswer) => Promise<boolean>;
};

/** An answer as stored in its file. */
type StoredAnswer = { readonly [field: string]: string };

/** Opens the answers of one kind, in a folder of that name in Parley's own folder. */
export const openAnswerStore = (disk: Disk, home: string, kind: string): AnswerStore => {
  const folderPath = join(home, kind);
  return {
    has: async (...candidates) => {
      if ((await disk.canonicalPath(home)) === undefined) return false;
      const returnFalse = (error: unknown): boolean => {
        if (error instanceof DiskError || error instanceof PolicyError) return false;
        throw error;
      };
      return withAnswerFolder(disk, home, kind, async (folder) => {
        for (const answer of candidates) if (await isStored(folder, answer).catch(returnFalse)) return true;
        return false;
      }).catch(returnFalse);
    },
    save: async (answer) => {
      await makeFolders(disk, home, kind);
      await withAnswerFolder(disk, home, kind, async (folder) => {
        const name = answerFileName(answer);
        const entry = await folder.stat(name);
        if (entry !== undefined && entry.kind !== "file")
          throw new PolicyError(
            "policy_violation",
            `${join(folderPath, name)} is not a regular file; it was not changed.`,
          );
        await folder.writeFile(name, new TextEncoder().encode(serializeAnswer(answer)), 0o600);
      });
    },
    list: async () => {
      if ((await disk.canonicalPath(folderPath)) === undefined) return [];
      return withAnswerFolder(disk, home, kind, readAnswers);
    },
    remove: async (answer) => {
      if ((await disk.canonicalPath(folderPath)) === undefined) return false;
      return withAnswerFolder(disk, home, kind, async (folder) => {
        const name = answerFileName(answer);
        if ((await folder.stat(name)) === undefined) return false;
        await folder.remove(name);
        await folder.flush();
        return true;
      });
    },
  };
};

const serializeAnswer = (answer: StoredAnswer): string => `${JSON.stringify(answer, undefined, 2)}\n`;

const answerFileName = (answer: StoredAnswer): string => `${fingerprint(serializeAnswer(answer))}.json`;

/** The file name is a hash of the text, so the text must be identical, in a file that only its owner can write. */
const isStored = async (folder: Folder, answer: StoredAnswer): Promise<boolean> => {
  const expected = new TextEncoder().encode(serializeAnswer(answer));
  const file = await folder.openFile(answerFileName(answer));
  try {
    const { size, mode } = await file.stat();
    if (size !== expected.length || (mode & 0o022) !== 0) return false;
    return Buffer.from(await file.read(0, size)).equals(expected);
  } finally {
    await file.close();
  }
};

const readAnswers = async (folder: Folder): Promise<readonly StoredAnswer[]> => {
  const answers: StoredAnswer[] = [];
  for await (const { name, kind } of folder.list()) {
    const answer = kind === "file" && name.endsWith(".json") ? await readAnswer(folder, name) : undefined;
    if (answer !== undefined && answerFileName(answer) === name && (await isStored(folder, answer)))
      answers.push(answer);
  }
  return answers;
};

const readAnswer = async (folder: Folder, name: string): Promise<StoredAnswer | undefined> => {
  const file = await folder.openFile(name);
  try {
    const { size } = await file.stat();
    if (size > maxBytes) return undefined;
    const value: unknown = JSON.parse(Buffer.from(await file.read(0, size)).toString("utf8"));
    const isAnswer =
      typeof value === "object" && value !== null && Object.values(value).every((field) => typeof field === "string");
    return isAnswer ? (value as StoredAnswer) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  } finally {
    await file.close();
  }
};

const maxBytes = 2 ** 20;

/** Runs work in the folder of a kind. The folder must not be a link, and only its owner may write in it. */
const withAnswerFolder = async <Result>(
  disk: Disk,
  home: string,
  kind: string,
  work: (folder: Folder) => Promise<Result>,
): Promise<Result> => {
  const homeFolder = await disk.openFolder((await disk.canonicalPath(home)) ?? home);
  try {
    const folder = await homeFolder.openFolder(kind);
    try {
      if (((await folder.statSelf()).mode & 0o022) !== 0)
        throw new PolicyError("policy_violation", `${folder.path} is not used: other users can write to it.`);
      return await work(folder);
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (error instanceof DiskError && (error.code === "ELOOP" || error.code === "ENOTDIR"))
      throw new PolicyError("policy_violation", `${join(home, kind)} is not a regular folder; it was not changed.`);
    throw error;
  } finally {
    await homeFolder.close();
  }
};

const makeFolders = async (disk: Disk, home: string, kind: string): Promise<void> =>
  makeFolderIn(disk, await ensureFolderPath(disk, home), kind);

const makeFolderIn = async (disk: Disk, parentPath: string, name: string): Promise<void> => {
  const folder = await disk.openFolder(parentPath);
  try {
    if ((await folder.stat(name)) === undefined) await folder.makeFolder(name, 0o700);
  } finally {
    await folder.close();
  }
};
