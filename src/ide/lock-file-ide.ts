import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { isObject } from "../conversation/json.ts";
import { openWebSocket } from "../world/real/web-socket.ts";
import { version } from "../world/version.ts";
import type { World } from "../world/world.ts";
import type { IdeOffer } from "./discover.ts";
import {
  maxDiffLength,
  type DiffOutcome,
  type DiffProposal,
  type Ide,
  type IdeDiff,
  type IdeListener,
  type IdeMention,
  type IdeSelection,
} from "./ide.ts";
import { parseJson, readDiagnostics, readMention, readOpenFiles, readPath, readSelection } from "./read-values.ts";
import { RpcClient } from "./rpc.ts";

/** Milliseconds for the handshake, and for a tool that does not wait for the user. */
const connectTimeout = 5000;
const toolTimeout = 3000;

/** The longest message: a diff comes back as JSON, which can double its length. */
const maxMessageBytes: number = 4 * maxDiffLength;

/** The most mentions kept until the next prompt. */
const maxMentions = 20;

/** Connects to an editor that speaks Claude Code's protocol: MCP over a WebSocket on this machine. */
export const connectLockFileIde = async (
  { name, port, token }: IdeOffer,
  world: Pick<World, "clock" | "random">,
  listener: IdeListener,
): Promise<Ide> => {
  const state = new EditorState(listener.onChange);
  const rpc = new RpcClient({
    clock: world.clock,
    onClose: listener.onClose,
    onNotification: (method, params) => {
      if (method === "selection_changed" && state.select(params)) void refreshOpenFiles(rpc, state);
      if (method === "at_mentioned") state.mention(params);
    },
  });
  const late = new AbortController();
  const cancelTimer = world.clock.after(connectTimeout, () => late.abort(new Error(`${name} does not answer.`)));
  try {
    const socket = await openWebSocket(
      {
        url: `ws://127.0.0.1:${port}`,
        protocol: "mcp",
        headers: { "x-claude-code-ide-authorization": token },
        maxMessageBytes,
      },
      { onText: (text) => rpc.onMessage(parseJson(text)), onClose: rpc.onClose },
      late.signal,
    );
    await rpc.start(
      { send: async (message) => socket.send(JSON.stringify(message)), close: socket.close },
      { version, timeout: connectTimeout },
    );
  } catch (error) {
    rpc.close();
    throw error;
  } finally {
    cancelTimer();
  }
  rpc.notify("ide_connected", { pid: process.pid });
  void refreshOpenFiles(rpc, state);
  return {
    name,
    context: () => state.context(),
    takeMentions: () => state.takeMentions(),
    openDiff: (proposal) => openDiff(rpc, proposal, world),
    diagnostics: async (path) => {
      const args = path === undefined ? {} : { uri: pathToFileURL(path).href };
      const texts = await rpc.callTool("getDiagnostics", args, toolTimeout).catch(() => undefined);
      return texts?.[0] === undefined ? undefined : readDiagnostics(texts[0]);
    },
    close: () => rpc.close(),
  };
};

/** The files, selection and mentions the editor reported. */
class EditorState {
  readonly #onChange: () => void;
  #openFiles: readonly string[] = [];
  #active: string | undefined;
  #selection: IdeSelection | undefined;
  #mentions: IdeMention[] = [];

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  context(): ReturnType<Ide["context"]> {
    const active = this.#active;
    const openFiles = active === undefined ? this.#openFiles : [...new Set([active, ...this.#openFiles])];
    return { openFiles, ...(this.#selection === undefined ? {} : { selection: this.#selection }) };
  }

  /** Returns whether another file is active now. */
  select(params: Readonly<Record<string, unknown>>): boolean {
    const active = readPath(params["filePath"]) ?? readPath(params["fileUrl"]);
    const hasMoved = active !== this.#active;
    this.#active = active;
    this.#selection = readSelection(params);
    this.#onChange();
    return hasMoved;
  }

  mention(params: Readonly<Record<string, unknown>>): void {
    const mention = readMention(params);
    if (mention === undefined) return;
    this.#mentions = [...this.#mentions, mention].slice(-maxMentions);
    this.#onChange();
  }

  takeMentions(): readonly IdeMention[] {
    return this.#mentions.splice(0);
  }

  setOpenFiles(paths: readonly string[]): void {
    this.#openFiles = paths;
    this.#onChange();
  }
}

/** Asks for the open files; there is no notification for them. */
const refreshOpenFiles = async (rpc: RpcClient, state: EditorState): Promise<void> => {
  const texts = await rpc.callTool("getOpenEditors", {}, toolTimeout).catch(() => []);
  const parsed = parseJson(texts[0] ?? "");
  const tabs = isObject(parsed) && Array.isArray(parsed["tabs"]) ? parsed["tabs"].filter(isObject) : undefined;
  if (tabs === undefined) return;
  state.setOpenFiles(
    readOpenFiles(tabs.map((tab) => ({ path: tab["fileName"] ?? tab["uri"], isActive: tab["isActive"] === true }))),
  );
};

/**
 * Opens a diff. The call returns when the user has decided. Editors recognize the tab of a diff by the two marks in its
 * name.
 */
const openDiff = (rpc: RpcClient, { path, after }: DiffProposal, { random }: Pick<World, "random">): IdeDiff => {
  const id = Math.floor(random() * 36 ** 6).toString(36);
  const tab_name = `✻ [Parley] ${basename(path)} (${id}) ⧉`;
  const args = { old_file_path: path, new_file_path: path, new_file_contents: after, tab_name };
  const outcome: Promise<DiffOutcome> = rpc
    .callTool("openDiff", args)
    .then(readOutcome, () => ({ type: "closed" }) as const);
  const close = (): void => void rpc.callTool("close_tab", { tab_name }, toolTimeout).catch(() => undefined);
  return {
    outcome,
    close,
    closeAccepted: async () => {
      const isSaved = await saveProposal(rpc, tab_name);
      const left = isSaved ? await outcome : undefined;
      close();
      return left?.type === "accepted" ? left.text : undefined;
    },
  };
};

/**
 * Saves the text of a diff, which accepts it: then the editor tells the text. There is no other way to read it. Works
 * where the proposed text is a document of this name, as in Neovim; other editors know no such document. Returns whether
 * it was saved.
 */
const saveProposal = async (rpc: RpcClient, tabName: string): Promise<boolean> => {
  for (const kind of ["proposed", "NEW FILE - proposed"]) {
    const [answer = ""] = await rpc
      .callTool("saveDocument", { filePath: `${tabName} (${kind})` }, toolTimeout)
      .catch(() => []);
    const result = parseJson(answer);
    if (isObject(result) && result["success"] === true) return true;
  }
  return false;
};

/** A closed tab is no answer: the user may have closed it by accident, or an extension did. */
const readOutcome = ([kind, text]: readonly string[]): DiffOutcome => {
  if (kind === "FILE_SAVED" && text !== undefined && text.length <= maxDiffLength) return { type: "accepted", text };
  return kind === "DIFF_REJECTED" ? { type: "refused" } : { type: "closed" };
};
