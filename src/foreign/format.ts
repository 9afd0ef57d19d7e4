import type { ConversationBuilder } from "./builder.ts";
import type { ForeignRecord } from "./json.ts";
import type { Database } from "./sqlite/database.ts";

/** A folder another agent keeps its files in: named by an environment variable, or below the user's home folder. */
export type BaseFolder =
  | { readonly variable: string; readonly below?: string }
  | { readonly home: string }
  | { readonly project: string };

/** A path below a base folder, one name per element. In a pattern, `*` stands for any run of characters. */
export type PathNames = readonly string[];

/** The facts of a session for a list. */
export type SessionFacts = {
  readonly title?: string | undefined;
  readonly folder?: string | undefined;
  readonly created?: number | undefined;
  readonly modified?: number | undefined;
  /** The session it was forked from, or whose subagent it is. A subagent's is not listed. */
  readonly parent?: SessionParent | undefined;
};

/** The session another one belongs to: as a branch that went its own way, or as the work of a subagent. */
export type SessionParent = { readonly id: string; readonly kind: BranchLeaf["kind"] };

/** The records at the beginning and the end of a file, and the texts of the files beside it. */
type FilePeek = {
  readonly path: PathNames;
  readonly head: readonly ForeignRecord[];
  readonly tail: readonly ForeignRecord[];
  readonly beside: readonly string[];
};

/** An agent that keeps each session in a file of its own. */
export type FileFormat = {
  readonly bases: readonly BaseFolder[];
  /** Patterns of the session files. */
  readonly files: readonly PathNames[];
  /** The names the second element of a path can have for a folder; without it, all are looked at. */
  readonly projectNames?: (folder: string) => readonly string[];
  /** The id of a session, from its path; by default the name of the file without its ending. */
  readonly idOf?: (path: PathNames) => string;
  /** The small files that say more about a session. */
  readonly beside?: (path: PathNames) => readonly PathNames[];
  /** The folder with the conversations of a session's subagents, and the name of what is in it that is not one. */
  readonly subagents?: (path: PathNames) => PathNames;
  /** Whether a file in that folder is the session's own. */
  readonly isMainFile?: (path: PathNames) => boolean;
  /** Whether the files of subagents are among the session files, and only `describe` tells them apart. */
  readonly hasSubagentSessions?: true;
  /** The earlier part of a forked session that is in the file of another one, and which of its records belong to it. */
  readonly earlierPart?: (records: readonly ForeignRecord[]) => EarlierPart | undefined;
  /** Whether a record is of no use. It is dropped while the file is read. */
  readonly skip?: (record: ForeignRecord) => boolean;
  /** Describes a session for a list; undefined if the file is not one. */
  readonly describe: (peek: FilePeek) => SessionFacts | undefined;
  /** Reads the records of a file into a conversation: those of the active branch, or of the branch that ends with `leaf`. */
  readonly read: (
    records: readonly ForeignRecord[],
    builder: ConversationBuilder,
    beside: readonly string[],
    leaf?: string,
  ) => void;
  /** Lists the other branches, each by the name of its end. */
  readonly leaves?: (records: readonly ForeignRecord[]) => readonly BranchLeaf[];
};

/** The part of a forked session that is only in the file of the session it was forked from. */
export type EarlierPart = {
  readonly id: string;
  readonly isPart: (record: ForeignRecord, index: number) => boolean;
};

/** The end of a branch that is not the active one. Subagents have branches of their own in some files. */
export type BranchLeaf = { readonly id: string; readonly kind: "branch" | "subagent" };

/** A session in a database, with what a list shows of it. */
type DatabaseSession = SessionFacts & { readonly id: string };

/** An agent that keeps all sessions in one SQLite file. */
export type DatabaseFormat = {
  readonly bases: readonly BaseFolder[];
  readonly database: PathNames;
  readonly list: (database: Database) => AsyncIterable<DatabaseSession>;
  /** Reads a session, or with `leaf` a branch of it. */
  readonly load: (database: Database, id: string, builder: ConversationBuilder, leaf?: string) => Promise<void>;
  /** Lists the other branches of a session by name, and the sessions of its subagents by id. */
  readonly leaves?: (database: Database, id: string) => Promise<readonly BranchLeaf[]>;
};
