import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { callId } from "../../src/conversation/call-ids.ts";
import type { JsonObject } from "../../src/conversation/json.ts";
import { createRegistry } from "../../src/scheduler/registry.ts";
import { openServices } from "../../src/scheduler/services.ts";
import { validateCall } from "../../src/scheduler/call/validate.ts";
import type { ApprovedEdit, SideQueryModel, Capabilities, Web } from "../../src/tools/capabilities.ts";
import { normalizeResult } from "../../src/tools/result/normalize.ts";
import { ToolFailure, type AnyTool, type EditProposal, type ToolResult } from "../../src/tools/tool.ts";
import { realWorld } from "../../src/world/real/world.ts";

/** Options of a call besides its arguments. */
export type WorkbenchCallOptions = {
  readonly signal?: AbortSignal;
  readonly report?: (text: string) => void;
  readonly approved?: ApprovedEdit;
};

/** A workspace on the real disk, beside a folder and a home outside of it, with functions to call tools in it. */
export type Workbench = {
  readonly root: string;
  readonly outside: string;
  readonly home: string;
  readonly scratch: string;
  /** Creates a file in the workspace, with its folders. */
  readonly put: (path: string, content: string | Uint8Array, options?: { mode?: number; modified?: number }) => string;
  readonly folder: (path: string) => string;
  readonly link: (path: string, to: string) => void;
  /** The content of a file in the workspace, as Latin 1 or as text. */
  readonly bytes: (path: string) => string;
  readonly text: (path: string) => string;
  readonly capabilities: (options?: WorkbenchCallOptions) => Capabilities;
  /** Runs a tool as the scheduler does after approval. */
  readonly call: (tool: AnyTool, input: JsonObject, options?: WorkbenchCallOptions) => Promise<ToolResult>;
  readonly propose: (tool: AnyTool, input: JsonObject, options?: WorkbenchCallOptions) => Promise<EditProposal>;
  /** The text for the model, with placeholders for the workspace's folders. */
  readonly callText: (tool: AnyTool, input: JsonObject, options?: WorkbenchCallOptions) => Promise<string>;
  /** The failure of a call. */
  readonly failure: (tool: AnyTool, input: JsonObject, options?: WorkbenchCallOptions) => Promise<WorkbenchFailure>;
  readonly close: () => Promise<void>;
};

type WorkbenchFailure = { readonly type: string; readonly message: string };

export type WorkbenchOptions = {
  /** The path of ripgrep; false for none. */
  readonly ripgrep?: string | false;
  readonly model?: SideQueryModel;
  readonly web?: Web;
  /** Further folders of the workspace. */
  readonly roots?: readonly string[];
  /** Milliseconds a command may run. */
  readonly commandTimeLimit?: number;
};

export const openWorkbench = async (options: WorkbenchOptions = {}): Promise<Workbench> => {
  const { ripgrep = rgPath, model, web = noWeb, roots = [], commandTimeLimit = 60_000 } = options;
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-tools-")));
  const at = {
    root: join(base, "ws"),
    outside: join(base, "out"),
    home: join(base, "home"),
    scratch: join(base, "kept"),
  };
  for (const folder of [at.root, at.outside, at.home, ...roots.map((root) => join(base, root))]) mkdirSync(folder);
  writeFileSync(join(at.outside, "canary.txt"), "canary\n");
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: at.home, LANG: "C.UTF-8" };
  const services = await openServices({
    world: { ...realWorld(), env },
    roots: [at.root, ...roots.map((root) => join(base, root))],
    home: join(at.home, ".parley"),
    scratch: at.scratch,
    mode: "yolo",
    interactive: false,
    commandTimeoutMs: commandTimeLimit,
    ripgrep: async () => ripgrep || undefined,
    ...(model === undefined ? {} : { model }),
  });
  const inside = (path: string): string => join(at.root, path);
  const capabilities = ({
    signal = new AbortController().signal,
    report = () => undefined,
    approved,
  }: WorkbenchCallOptions = {}) => ({
    ...services.capabilities({ signal, report, ...(approved === undefined ? {} : { approved }) }),
    web,
  });
  const call = async (tool: AnyTool, input: JsonObject, given?: WorkbenchCallOptions): Promise<ToolResult> => {
    const valid = await validateCall(callOf(tool, input), createRegistry([tool]));
    return normalizeResult(await valid.tool.run(valid.input, capabilities(given)));
  };
  const named = (text: string): string =>
    text.replaceAll(at.root, "{WS}").replaceAll(at.scratch, "{KEPT}").replaceAll(base, "{BASE}");
  return {
    ...at,
    put: (path, content, { mode, modified } = {}) => {
      mkdirSync(dirname(inside(path)), { recursive: true });
      writeFileSync(inside(path), content);
      if (mode !== undefined) chmodSync(inside(path), mode);
      if (modified !== undefined) utimesSync(inside(path), modified, modified);
      return inside(path);
    },
    folder: (path) => mkdirSync(inside(path), { recursive: true }) ?? inside(path),
    link: (path, to) => symlinkSync(to, inside(path)),
    bytes: (path) => readFileSync(inside(path), "latin1"),
    text: (path) => readFileSync(inside(path), "utf8"),
    capabilities,
    call,
    propose: async (tool, input, given) => {
      const valid = await validateCall(callOf(tool, input), createRegistry([tool]));
      if (valid.tool.propose === undefined) throw new Error(`${tool.name} proposes nothing.`);
      return valid.tool.propose(valid.input, capabilities(given));
    },
    callText: async (tool, input, given) => {
      const { content } = await call(tool, input, given);
      return named(content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join(""));
    },
    failure: async (tool, input, given) => {
      try {
        await call(tool, input, given);
      } catch (error) {
        if (error instanceof ToolFailure) return { type: error.type, message: named(error.message) };
        throw error;
      }
      throw new Error(`${tool.name} did not fail.`);
    },
    close: async () => {
      await services.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
};

const callOf = (tool: AnyTool, value: JsonObject) =>
  ({ type: "call", id: callId(1), tool: tool.name, input: { type: "parsed", value } }) as const;

const noWeb: Web = { fetch: () => Promise.reject(new Error("There is no network here.")) };
