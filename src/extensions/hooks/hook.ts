import type { HookEvent } from "../../settings/schema/hook-shape.ts";

/** Where hooks come from. Those of a project and of a plugin run only with the person's consent. */
export type HookSource =
  | { readonly type: "user" }
  | { readonly type: "project" }
  /** `root` is the plugin's folder, `data` one it may write to; both are in the environment of its commands. */
  | { readonly type: "plugin"; readonly name: string; readonly root: string; readonly data?: string };

/** The hooks of one source, as they were written. */
export type HookSet = {
  readonly source: HookSource;
  /** The file they are in, as shown to the person. */
  readonly file: string;
  /** The value of `hooks`: groups by event, not yet checked. */
  readonly settings: unknown;
  /**
   * Whether the hooks, and the files they name, are still what the person consented to; asked before each run. Absent
   * for the person's own hooks.
   */
  readonly isUnchanged?: (event: HookEvent) => Promise<boolean>;
};

/** One hook: checked, and ready to run. */
export type Hook = {
  readonly event: HookEvent;
  readonly set: HookSet;
  /** The names it runs for; empty for all. */
  readonly matcher: string;
  /** A rule such as `Bash(git *)` that the tool call must match. */
  readonly condition?: string;
  readonly handler: HookHandler;
  readonly timeoutMs: number;
  /** Whether nothing waits for it, and its decision has no effect. */
  readonly isAsync: boolean;
  /** Whether a failure counts as a block. */
  readonly blocksOnFailure: boolean;
  /** The form of its input and output. */
  readonly format: "claude" | "codex" | "gemini";
  /** One line for lists and messages: its name, command or URL. Not sanitized. */
  readonly label: string;
  readonly statusMessage?: string;
};

/** The action of a hook: a command line for the shell, a program with arguments, or a URL. */
export type HookHandler =
  | { readonly type: "command"; readonly command: string }
  | { readonly type: "program"; readonly program: string; readonly args: readonly string[] }
  | {
      readonly type: "http";
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
      readonly allowedVariables: readonly string[];
    };

/** Names a source in one or two words. */
export const describeHookSource = (source: HookSource): string => {
  switch (source.type) {
    case "user":
      return "user";
    case "project":
      return "project";
    case "plugin":
      return `plugin ${source.name}`;
  }
};
