import type { Question } from "../../agent/agent.ts";
import type { AgentEvent } from "../../agent/events.ts";
import type { Opened } from "../../agent/open.ts";
import type { Media, UserPart } from "../../conversation/index.ts";
import type { ApprovalMode } from "../../policy/mode.ts";
import type { Loaded } from "../../settings/load.ts";
import type { Terminal } from "../../world/terminal.ts";
import type { World } from "../../world/index.ts";
import { createHighlighter } from "../markdown/highlight.ts";
import type { Theme } from "../screen/theme.ts";
import { line } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { commandChoices, type Desk, type Resume, type SlashCommand } from "./command.ts";
import { allCommands, commandNamed } from "./all-commands.ts";
import { mentionChoices } from "./completions.ts";
import { Feed } from "./feed.ts";
import type { Front, Host } from "./front.ts";
import { greeting, headline } from "./greeting.ts";
import type { InputHistory } from "./history.ts";
import { Markdown } from "./markdown.ts";
import { showPast, told } from "./past.ts";
import { PastedFiles } from "./pasted-files.ts";
import { showMedia } from "./pictures.ts";
import { quoted } from "./quoted.ts";
import { shellAside, ShellLines, viewShellLine, type ShellLine } from "./shell-line.ts";
import { Snapshots } from "./snapshots.ts";
import { talkStatus, viewStatus } from "./status.ts";
import { Talk } from "./talk.ts";
import { themeNamed } from "./theme-named.ts";
import { askTrust } from "./trusting.ts";

/** What the interface is made of. */
export type InterfaceOptions = {
  readonly terminal: Terminal;
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  /** The settings as they are before a session is opened. */
  readonly loaded: Loaded;
  readonly isSandboxed: boolean;
  /** Opens the session that was asked for, or with an argument another one. Settings are read anew. */
  readonly open: (resume?: Resume) => Promise<{ readonly opened: Opened; readonly loaded: Loaded }>;
  /** Takes away a session in which nothing was said. */
  readonly discard: (id: string) => Promise<void>;
  /** Runs the person's own editor on a text, while the terminal is theirs. */
  readonly edit: (text: string, name: string) => Promise<string | undefined>;
  readonly doctor: () => Promise<string>;
  readonly history: InputHistory;
  /** What is said at once. */
  readonly first?: string;
};

/** The terminal interface: it sends requests to the agent and draws its events. */
export class Interface {
  readonly #options: InterfaceOptions;
  readonly #front: Front;
  readonly #markdown: Markdown;
  readonly #feed: Feed;
  readonly #pasted: PastedFiles;
  readonly #shellLines: ShellLines;
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  #loaded: Loaded;
  #talk: Talk | undefined;
  #snapshots: Snapshots | undefined;
  #custom: readonly SlashCommand[] = [];
  #finding: Promise<unknown> = Promise.resolve();
  #mode: ApprovalMode;
  /** What was typed before there was a session. */
  #early: string[] = [];
  #isLeaving = false;
  #isFirst = true;

  constructor(options: InterfaceOptions, front: (host: Host, theme: Theme | undefined) => Front) {
    const { world, loaded, first } = options;
    const { settings, policy } = loaded;
    this.#options = options;
    this.#loaded = loaded;
    this.#mode = policy.mode;
    this.#early = first === undefined ? [] : [first];
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    this.#front = front(this.#host(), themeNamed(settings["ui.theme"]));
    this.#pasted = new PastedFiles(world);
    this.#shellLines = new ShellLines(world.clock, () => this.#front.update());
    this.#markdown = new Markdown(this.#front, createHighlighter(), () => this.#feed.settle());
    this.#feed = new Feed({
      clock: world.clock,
      markdown: this.#markdown.options,
      width: () => this.#front.width(),
      print: (lines) => this.#front.print(lines),
      showMedia: (media) => this.#showMedia(media),
      announces: settings["ui.screenReader"],
    });
  }

  /** Runs until the person leaves. */
  async run(): Promise<void> {
    const { folder, loaded, open } = this.#options;
    const front = this.#front;
    front.print(headline(folder, front.width()));
    front.update();
    try {
      if (!loaded.policy.trusted) await askTrust(front, this.#options);
      if (!this.#isLeaving) {
        await this.#begin(await open());
        for (const text of this.#early.splice(0)) this.#submit(text);
        await this.#ended;
      }
    } finally {
      await this.#endTalk();
      await this.#options.history.settled();
      await front.close();
    }
  }

  /* Sessions. */

  async #begin({ opened, loaded }: { readonly opened: Opened; readonly loaded: Loaded }): Promise<void> {
    const { world, home } = this.#options;
    const front = this.#front;
    this.#loaded = loaded;
    this.#mode = loaded.policy.mode;
    this.#snapshots = new Snapshots(world, home, opened.session.id);
    this.#talk = new Talk(opened, world.clock, {
      hear: (event) => this.#hear(event),
      say: (text) => this.#say(text),
      warn: (text) => this.#warn(text),
      changed: () => front.update(),
      room: () => front.room(),
    });
    front.print([...greeting(opened, { width: front.width(), isFirst: this.#isFirst }), []]);
    this.#isFirst = false;
    await showPast(opened.session.entries, {
      width: () => front.width(),
      print: (lines) => front.print(lines),
      showMarkdown: (markdown) => this.#markdown.show(markdown),
      showMedia: (media) => this.#showMedia(media),
    });
    opened.servers?.listen(() => front.update());
    void this.#talk.refresh();
    this.#finding = this.#findCommands();
  }

  /** Ends the session. True where something was said in it; one in which nothing was is not kept. */
  async #endTalk(): Promise<boolean> {
    const talk = this.#talk;
    if (talk === undefined) return false;
    this.#talk = undefined;
    this.#shellLines.stop();
    await talk.cancel();
    const { opened } = talk;
    const wasUsed = opened.agent.conversation().entries.some(({ type }) => type === "user");
    await opened.close();
    if (!wasUsed) await this.#options.discard(opened.session.id);
    return wasUsed;
  }

  async #reopen(resume: Resume): Promise<void> {
    const id = this.#opened().session.id;
    const isKept = await this.#endTalk();
    const again = isKept ? { id } : "new";
    const { open } = this.#options;
    const wanted = resume !== "new" && resume.id === id ? again : resume;
    const begun = await open(wanted).catch(async (error: unknown) => {
      this.#warn(error instanceof Error ? error.message : String(error));
      return open(again);
    });
    await this.#begin(begun);
    for (const text of this.#early.splice(0)) this.#submit(text);
  }

  async #findCommands(): Promise<readonly SlashCommand[]> {
    const { world, home, folder } = this.#options;
    const { findCommands } = await import("./custom-commands.ts");
    const project = this.#loaded.policy.trusted ? { project: folder } : {};
    const places = { disk: world.disk, home, person: world.host.home, ...project };
    const { commands, notes } = await findCommands(places);
    for (const note of notes) this.#say(note);
    this.#custom = commands;
    return commands;
  }

  /* What happens. */

  #hear(event: AgentEvent): void {
    const talk = this.#talk;
    this.#feed.hear(event);
    if (talk !== undefined) this.#snapshots?.hear(event, talk.opened.agent.conversation().entries.length);
    this.#front.update();
  }

  #showMedia(media: Media): void {
    showMedia(this.#front, media, this.#talk?.opened.agent.conversation().blobs ?? {});
  }

  /* What the person does. */

  #submit(text: string): void {
    this.#options.history.add(text);
    if (this.#talk === undefined) {
      this.#early.push(text);
      return;
    }
    this.#front.print(quoted(text, this.#front.width()));
    const [, name, words = ""] = /^\/([\w:.-]+)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
    if (name !== undefined) void this.#command(name, words.trim());
    else if (text.startsWith("!")) void this.#guarded(async () => this.#aside(await this.#shell(text.slice(1).trim())));
    else void this.#guarded(() => this.#send(text, []));
  }

  async #send(text: string, parts: readonly UserPart[]): Promise<void> {
    const talk = this.#talk;
    if (talk === undefined) return;
    await this.#markdown.ready;
    if (talk.since === undefined) this.#feed.begin();
    const files = this.#pasted.take(text);
    talk.opened.keep(files.blobs);
    for (const part of files.parts) if (part.type === "media") this.#showMedia(part);
    await talk.say({ text, parts: [...files.parts, ...parts] });
  }

  async #command(name: string, words: string): Promise<void> {
    await this.#finding;
    const command = await commandNamed(name, this.#commands());
    if (typeof command === "string") return this.#say(command);
    await this.#guarded(async () => command.run(words, this.#desk()));
    await this.#talk?.refresh();
  }

  /** What goes wrong in a command is told, and nothing else suffers. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#warn(error instanceof Error ? error.message : String(error));
    }
    this.#front.update();
  }

  #commands(): readonly SlashCommand[] {
    return allCommands(this.#custom, this.#talk?.opened.servers);
  }

  async #shell(command: string): Promise<ShellLine> {
    const ran = await this.#shellLines.run(command, await this.#opened().services());
    this.#front.print([...viewShellLine(ran, this.#front.width()), []]);
    return ran;
  }

  #aside(ran: ShellLine): void {
    this.#talk?.aside(shellAside(ran));
  }

  #opened(): Opened {
    if (this.#talk === undefined) throw new Error("There is no session yet.");
    return this.#talk.opened;
  }

  async #setMode(mode: ApprovalMode): Promise<void> {
    const { services, agent } = this.#opened();
    const { gate } = await services();
    gate.setMode(mode);
    this.#mode = mode;
    await agent.reconsider();
    this.#front.update();
  }

  async #editFirst({ approval: { about }, call, agent: name }: Question): Promise<void> {
    if (about.type !== "edit") return;
    const edited = await this.#front.outside(() => this.#options.edit(about.after, about.path));
    if (edited !== undefined) this.#opened().agent.decide(call, { type: "edit", text: edited }, name);
    this.#front.update();
  }

  #leave(): void {
    this.#isLeaving = true;
    this.#end();
  }

  #say(text: string): void {
    this.#front.print([...told(text, this.#front.width()), []]);
  }

  #warn(text: string): void {
    this.#front.print([...told(text, this.#front.width(), "error"), []]);
  }

  #status(width: number): Line {
    const { isSandboxed } = this.#options;
    const isTrusted = this.#loaded.policy.trusted;
    const talk = this.#talk;
    return viewStatus(talk && { ...talkStatus(talk), mode: this.#mode, isTrusted, isSandboxed }, width);
  }

  /** What a front shows, and what it tells. */
  #host(): Host {
    const { edit } = this.#options;
    return {
      live: () => [...this.#feed.live(), ...this.#shellLines.live(this.#front.width())],
      status: (width) => this.#status(width),
      since: () => this.#talk?.since ?? this.#shellLines.since,
      questions: () => this.#talk?.opened.agent.waiting() ?? [],
      decide: ({ call, agent }, decision) => void this.#opened().agent.decide(call, decision, agent),
      editFirst: (question) => void this.#guarded(() => this.#editFirst(question)),
      choices: ({ kind, query }) => {
        if (kind === "command") return commandChoices(this.#commands());
        return this.#talk === undefined ? [] : mentionChoices(query, this.#talk.opened);
      },
      pasted: (text) => this.#pasted.paste(text),
      clipboard: () => this.#pasted.clipboard(),
      submit: (text) => this.#submit(text),
      compose: async (text) => (await this.#front.outside(() => edit(text, "message.md")))?.replace(/\n$/, ""),
      cancel: () => {
        this.#shellLines.stop();
        void this.#talk?.cancel();
      },
      leave: () => this.#leave(),
      unfold: () => {
        if (!this.#feed.unfold()) this.#front.print([line("Nothing is folded.", { tone: "muted" })]);
      },
      nextMode: () => void this.#guarded(() => this.#setMode(following[this.#mode])),
    };
  }

  /** What commands can do. */
  #desk(): Desk {
    const { world, home, folder, edit, doctor } = this.#options;
    const front = this.#front;
    return {
      world,
      home,
      folder,
      loaded: () => this.#loaded,
      opened: () => this.#opened(),
      snapshots: () => (this.#snapshots ??= new Snapshots(world, home, this.#opened().session.id)),
      reopen: (resume) => this.#reopen(resume),
      say: (text) => this.#say(text),
      warn: (text) => this.#warn(text),
      print: (lines) => front.print(lines),
      show: (markdown) => this.#markdown.show(markdown),
      pick: (title, options, focused) => front.pick(title, options, focused),
      send: (text, parts = []) => this.#send(text, parts),
      edit: (text, name) => front.outside(() => edit(text, name)),
      copy: (text) => front.copy(text),
      shell: (command) => this.#shell(command),
      setTheme: (theme) => front.setTheme(theme),
      setMode: (mode) => this.#setMode(mode),
      doctor,
      commands: () => this.#commands(),
      width: () => front.width(),
      leave: () => this.#leave(),
    };
  }
}

/** What follows a mode when the person goes on to the next; what allows everything must be named. */
const following: Readonly<Record<ApprovalMode, ApprovalMode>> = {
  default: "auto_edit",
  auto_edit: "plan",
  plan: "default",
  yolo: "default",
};
