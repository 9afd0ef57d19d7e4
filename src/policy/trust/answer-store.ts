import { basename, dirname, join } from "node:path";
import { DiskError, type Disk, type Folder } from "../../world/disk.ts";
import { fingerprint } from "../../world/fingerprint.ts";
import { PolicyError } from "../error.ts";

/** What a person has answered once and for all, each answer in a file of its own: two programs that keep some at once lose none. */
export type AnswerStore = {
  /** Whether one of these was answered. What others could have written counts for nothing. */
  readonly has: (...any: readonly StoredAnswer[]) => Promise<boolean>;
  /** Keeps an answer. Throws where something else stands in its place. */
  readonly save: (answer: StoredAnswer) => Promise<void>;
  /** All that was answered. What others could have written is left out. */
  readonly list: () => Promise<readonly StoredAnswer[]>;
  /** Takes an answer back. False where it was never given. */
  readonly remove: (answer: StoredAnswer) => Promise<boolean>;
};

/** An answer, as it stands in its file. */
type StoredAnswer = { readonly [field: string]: string };

/** Opens the answers of one kind, in a folder of that name where Parley keeps its own things. */
export const openAnswerStore = (disk: Disk, home: string, kind: string): AnswerStore => {
  const place = join(home, kind);
  return {
    has: async (...any) => {
      if ((await disk.canonicalPath(home)) === undefined) return false;
      const isNone = (error: unknown): boolean => {
        if (error instanceof DiskError || error instanceof PolicyError) return false;
        throw error;
      };
      return withAnswerFolder(disk, home, kind, async (folder) => {
        for (const answer of any) if (await isStored(folder, answer).catch(isNone)) return true;
        return false;
      }).catch(isNone);
    },
    save: async (answer) => {
      await makeFolders(disk, home, kind);
      await withAnswerFolder(disk, home, kind, async (folder) => {
        const name = answerFileName(answer);
        const entry = await folder.stat(name);
        if (entry !== undefined && entry.kind !== "file")
          throw new PolicyError("policy_violation", `${join(place, name)} is not a plain file; it is left alone.`);
        await folder.writeFile(name, new TextEncoder().encode(serializeAnswer(answer)), 0o600);
      });
    },
    list: async () => {
      if ((await disk.canonicalPath(place)) === undefined) return [];
      return withAnswerFolder(disk, home, kind, readAnswers);
    },
    remove: async (answer) => {
      if ((await disk.canonicalPath(place)) === undefined) return false;
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

/** The name is taken from the text, so the text must be the very one, in a file nobody else may write. */
const isStored = async (folder: Folder, answer: StoredAnswer): Promise<boolean> => {
  const wanted = new TextEncoder().encode(serializeAnswer(answer));
  const file = await folder.openFile(answerFileName(answer));
  try {
    const { size, mode } = await file.stat();
    if (size !== wanted.length || (mode & 0o022) !== 0) return false;
    return Buffer.from(await file.read(0, size)).equals(wanted);
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

/** Works in the folder of a kind. No link leads to it, and nobody else may write in it. */
const withAnswerFolder = async <Result>(
  disk: Disk,
  home: string,
  kind: string,
  work: (folder: Folder) => Promise<Result>,
): Promise<Result> => {
  const own = await disk.openFolder((await disk.canonicalPath(home)) ?? home);
  try {
    const folder = await own.openFolder(kind);
    try {
      if (((await folder.statSelf()).mode & 0o022) !== 0)
        throw new PolicyError("policy_violation", `${folder.path} is not used: others may write to it.`);
      return await work(folder);
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (error instanceof DiskError && (error.code === "ELOOP" || error.code === "ENOTDIR"))
      throw new PolicyError("policy_violation", `${join(home, kind)} is not a plain folder; it is left alone.`);
    throw error;
  } finally {
    await own.close();
  }
};

const makeFolders = async (disk: Disk, home: string, kind: string): Promise<void> => {
  if ((await disk.canonicalPath(home)) === undefined) {
    const above = await disk.canonicalPath(dirname(home));
    if (above === undefined) throw new PolicyError("file_not_found", `There is no folder for ${home}.`);
    await makeFolderIn(disk, above, basename(home));
  }
  await makeFolderIn(disk, (await disk.canonicalPath(home)) ?? home, kind);
};

const makeFolderIn = async (disk: Disk, above: string, name: string): Promise<void> => {
  const folder = await disk.openFolder(above);
  try {
    if ((await folder.stat(name)) === undefined) await folder.makeFolder(name, 0o700);
  } finally {
    await folder.close();
  }
};
