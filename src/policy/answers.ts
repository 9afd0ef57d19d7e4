import { basename, dirname, join } from "node:path";
import { DiskError, type Disk, type Folder } from "../world/disk.ts";
import { fingerprint } from "../world/fingerprint.ts";
import { PolicyError } from "./error.ts";

/** What a person has answered once and for all, each answer in a file of its own: two programs that keep some at once lose none. */
export type Answers = {
  /** Whether one of these was answered. What others could have written counts for nothing. */
  readonly has: (...any: readonly Answer[]) => Promise<boolean>;
  /** Keeps an answer. Throws where something else stands in its place. */
  readonly keep: (answer: Answer) => Promise<void>;
  /** All that was answered. What others could have written is left out. */
  readonly all: () => Promise<readonly Answer[]>;
  /** Takes an answer back. False where it was never given. */
  readonly forget: (answer: Answer) => Promise<boolean>;
};

/** An answer, as it stands in its file. */
type Answer = { readonly [field: string]: string };

/** Opens the answers of one kind, in a folder of that name where Parley keeps its own things. */
export const openAnswers = (disk: Disk, home: string, kind: string): Answers => {
  const place = join(home, kind);
  return {
    has: async (...any) => {
      if ((await disk.canonical(home)) === undefined) return false;
      const isNone = (error: unknown): boolean => {
        if (error instanceof DiskError || error instanceof PolicyError) return false;
        throw error;
      };
      return within(disk, home, kind, async (folder) => {
        for (const answer of any) if (await isKept(folder, answer).catch(isNone)) return true;
        return false;
      }).catch(isNone);
    },
    keep: async (answer) => {
      await makeFolders(disk, home, kind);
      await within(disk, home, kind, async (folder) => {
        const name = nameOf(answer);
        const entry = await folder.look(name);
        if (entry !== undefined && entry.kind !== "file")
          throw new PolicyError("policy_violation", `${join(place, name)} is not a plain file; it is left alone.`);
        await folder.put(name, new TextEncoder().encode(textOf(answer)), 0o600);
      });
    },
    all: async () => {
      if ((await disk.canonical(place)) === undefined) return [];
      return within(disk, home, kind, keptIn);
    },
    forget: async (answer) => {
      if ((await disk.canonical(place)) === undefined) return false;
      return within(disk, home, kind, async (folder) => {
        const name = nameOf(answer);
        if ((await folder.look(name)) === undefined) return false;
        await folder.remove(name);
        await folder.flush();
        return true;
      });
    },
  };
};

const textOf = (answer: Answer): string => `${JSON.stringify(answer, undefined, 2)}\n`;

const nameOf = (answer: Answer): string => `${fingerprint(textOf(answer))}.json`;

/** The name is taken from the text, so the text must be the very one, in a file nobody else may write. */
const isKept = async (folder: Folder, answer: Answer): Promise<boolean> => {
  const wanted = new TextEncoder().encode(textOf(answer));
  const file = await folder.file(nameOf(answer));
  try {
    const { size, mode } = await file.look();
    if (size !== wanted.length || (mode & 0o022) !== 0) return false;
    return Buffer.from(await file.read(0, size)).equals(wanted);
  } finally {
    await file.close();
  }
};

const keptIn = async (folder: Folder): Promise<readonly Answer[]> => {
  const answers: Answer[] = [];
  for await (const { name, kind } of folder.list()) {
    const answer = kind === "file" && name.endsWith(".json") ? await answerIn(folder, name) : undefined;
    if (answer !== undefined && nameOf(answer) === name && (await isKept(folder, answer))) answers.push(answer);
  }
  return answers;
};

const answerIn = async (folder: Folder, name: string): Promise<Answer | undefined> => {
  const file = await folder.file(name);
  try {
    const { size } = await file.look();
    if (size > longest) return undefined;
    const value: unknown = JSON.parse(Buffer.from(await file.read(0, size)).toString("utf8"));
    const isAnswer =
      typeof value === "object" && value !== null && Object.values(value).every((field) => typeof field === "string");
    return isAnswer ? (value as Answer) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  } finally {
    await file.close();
  }
};

const longest = 2 ** 20;

/** Works in the folder of a kind. No link leads to it, and nobody else may write in it. */
const within = async <Result>(
  disk: Disk,
  home: string,
  kind: string,
  work: (folder: Folder) => Promise<Result>,
): Promise<Result> => {
  const own = await disk.open((await disk.canonical(home)) ?? home);
  try {
    const folder = await own.folder(kind);
    try {
      if (((await folder.self()).mode & 0o022) !== 0)
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
  if ((await disk.canonical(home)) === undefined) {
    const above = await disk.canonical(dirname(home));
    if (above === undefined) throw new PolicyError("file_not_found", `There is no folder for ${home}.`);
    await makeIn(disk, above, basename(home));
  }
  await makeIn(disk, (await disk.canonical(home)) ?? home, kind);
};

const makeIn = async (disk: Disk, above: string, name: string): Promise<void> => {
  const folder = await disk.open(above);
  try {
    if ((await folder.look(name)) === undefined) await folder.makeFolder(name, 0o700);
  } finally {
    await folder.close();
  }
};
