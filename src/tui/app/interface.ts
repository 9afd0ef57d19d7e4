import type { Question } from "../../agent/agent.ts";
import { modelName } from "../../agent/model-name.ts";
import type { Opened } from "../../agent/open.ts";
import type { Media, UserPart } from "../../conversation/parts.ts";
import type { ApprovalMode } from "../../policy/mode.ts";
import type { Terminal } from "../../world/terminal.ts";
import { createHighlighter } from "../markdown/highlight.ts";
import type { Theme } from "../screen/theme.ts";
import { line } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { commandChoices, type Desk, type Resume, type SlashCommand } from "./command.ts";
import { CurrentTalk, type TalkPlace } from "./current-talk.ts";
import { allCommands, commandNamed } from "./all-commands.ts";
import { ArgumentChoices } from "./argument-choices.ts";
import { mentionChoices } from "./completions.ts";
import { Feed } from "./feed.ts";
import type { Front, Host, LeaveReason } from "./front.ts";
import { greeting, headline } from "./greeting.ts";
import type { InputHistory } from "./history.ts";
import { Markdown } from "./markdown.ts";
import { showPast, told } from "./past.ts";
import { PastedFiles } from "./pasted-files.ts";
import { showMedia } from "./pictures.ts";
import { quoted } from "./quoted.ts";
import type { ServerDesk } from "./server-desk.ts";
import { shellAside, ShellLines, viewShellLine, type ShellLine } from "./shell-line.ts";
import { talkStatus, viewStatus } from "./status.ts";
import { themeNamed } from "./theme-named.ts";
import { askTrust } from "./trusting.ts";
import { askServers } from "./agreeing.ts";

/** What the interface is made of. */
export type InterfaceOptions = TalkPlace & {
  readonly terminal: Terminal;
  readonly folder: string;
  readonly isSandboxed: boolean;
  /** Runs the person's own editor on a text, while the terminal is theirs. */
  readonly edit: (text: string, name: string) => Promise<string | undefined>;
  readonly doctor: () => Promise<string>;
  readonly history: InputHistory;
  /** Where MCP servers put their questions. */
  readonly desk: ServerDesk;
  /** What is said at once. */
  readonly first?: string;
};

/** The terminal interface: it sends requests to the agent and draws its events. */
export class Interface {
  readonly #options: InterfaceOptions;
  readonly #front: Front;
  readonly #current: CurrentTalk;
  readonly #markdown: Markdown;
  readonly #feed: Feed;
  readonly #pasted: PastedFiles;
  readonly #shellLines: ShellLines;
  readonly #arguments = new ArgumentChoices(() => this.#desk());
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  #custom: readonly SlashCommand[] = [];
  #finding: Promise<unknown> = Promise.resolve();
  /** What was typed before there was a session. */
  #early: string[] = [];
  #isLeaving = false;
  #reason: LeaveReason | undefined;

  constructor(options: InterfaceOptions, front: (host: Host, theme: Theme | undefined) => Front) {
    const { world, loaded, first } = options;
    const { settings } = loaded;
    this.#options = options;
    this.#early = first === undefined ? [] : [first];
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    this.#current = new CurrentTalk(options, {
      hear: (event) => this.#feed.hear(event),
      say: (text) => this.#say(text),
      warn: (text) => this.#warn(text),
      changed: () => this.#front.update(),
      room: () => this.#front.room(),
      begun: (opened, isFirst) => this.#begun(opened, isFirst),
      ending: () => this.#stop(),
    });
    this.#front = front(this.#host(), themeNamed(settings["ui.theme"]));
    options.desk.listen({ changed: () => this.#front.update(), say: (text) => this.#say(text) });
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

  /** Runs until the person leaves; answers why where something else ended it. */
  async run(): Promise<LeaveReason | undefined> {
    const { folder, loaded } = this.#options;
    const front = this.#front;
    front.print(headline(folder, front.width()));
    front.update();
    try {
      if (!loaded.policy.trusted) await Promise.race([askTrust(front, this.#options), this.#ended]);
      if (!this.#isLeaving) await Promise.race([askServers(front, this.#options), this.#ended]);
      if (!this.#isLeaving) {
        await this.#current.begin();
        for (const text of this.#early.splice(0)) this.#submit(text);
        await this.#ended;
      }
    } finally {
      await this.#current.end();
      await this.#options.history.settled();
      await front.close();
    }
    return this.#reason;
  }

  /** Ends the interface: what runs is cancelled and recorded, and the session is closed, before `run` returns. */
  leave(reason?: LeaveReason): void {
    this.#reason ??= this.#isLeaving ? undefined : reason;
    this.#isLeaving = true;
    this.#end();
  }

  /* Sessions. */

  async #begun(opened: Opened, isFirst: boolean): Promise<void> {
    const front = this.#front;
    front.print([...greeting(opened, { width: front.width(), isFirst }), []]);
    await showPast(opened.session.entries, {
      width: () => front.width(),
      print: (lines) => front.print(lines),
      showMarkdown: (markdown) => this.#markdown.show(markdown),
      showMedia: (media) => this.#showMedia(media),
    });
    // Not before: until now, the person waited.
    void this.#markdown.ready();
    this.#finding = this.#findCommands();
  }

  async #reopen(resume: Resume): Promise<void> {
    await this.#current.reopen(resume);
    for (const text of this.#early.splice(0)) this.#submit(text);
  }

  /** Ends what is under way besides the talk. */
  #stop(): void {
    this.#shellLines.stop();
    this.#options.desk.cancel();
  }

  async #findCommands(): Promise<readonly SlashCommand[]> {
    const { world, home, folder } = this.#options;
    const { findCommands } = await import("./custom-commands.ts");
    const project = this.#current.loaded.policy.trusted ? { project: folder } : {};
    const places = { disk: world.disk, home, person: world.host.home, ...project };
    const { commands, notes } = await findCommands(places);
    for (const note of notes) this.#say(note);
    this.#custom = commands;
    return commands;
  }

  /* What happens. */

  #showMedia(media: Media): void {
    showMedia(this.#front, media, this.#current.talk?.opened.agent.conversation().blobs ?? {});
  }

  /* What the person does. */

  #submit(text: string): void {
    this.#arguments.forget();
    this.#options.history.add(text);
    if (this.#current.talk === undefined) {
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
    const talk = this.#current.talk;
    if (talk === undefined) return;
    await this.#markdown.ready();
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
    await this.#current.talk?.refresh();
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
    return allCommands(this.#custom, this.#current.talk?.opened.servers);
  }

  async #shell(command: string): Promise<ShellLine> {
    const ran = await this.#shellLines.run(command, await this.#current.opened().services());
    this.#front.print([...viewShellLine(ran, this.#front.width()), []]);
    return ran;
  }

  #aside(ran: ShellLine): void {
    this.#current.talk?.aside(shellAside(ran));
  }

  async #editFirst({ approval: { about }, call, agent: name }: Question): Promise<void> {
    if (about.type !== "edit") return;
    const edited = await this.#front.outside(() => this.#options.edit(about.after, about.path));
    if (edited !== undefined) this.#current.opened().agent.decide(call, { type: "edit", text: edited }, name);
    this.#front.update();
  }

  #say(text: string): void {
    this.#front.print([...told(text, this.#front.width()), []]);
  }

  #warn(text: string): void {
    this.#front.print([...told(text, this.#front.width(), "error"), []]);
  }

  #status(width: number): Line {
    const { isSandboxed } = this.#options;
    const isTrusted = this.#current.loaded.policy.trusted;
    const talk = this.#current.talk;
    return viewStatus(talk && { ...talkStatus(talk), mode: this.#current.mode, isTrusted, isSandboxed }, width);
  }

  /** What a front shows, and what it tells. */
  #host(): Host {
    const { edit, desk } = this.#options;
    return {
      live: () => [...this.#feed.live(), ...this.#shellLines.live(this.#front.width())],
      status: (width) => this.#status(width),
      since: () => this.#current.talk?.since ?? this.#shellLines.since,
      questions: () => this.#current.talk?.opened.agent.waiting() ?? [],
      decide: ({ call, agent }, decision) => void this.#current.opened().agent.decide(call, decision, agent),
      serverQuestions: () => desk.waiting(),
      answerServer: (question, answer) => desk.answer(question, answer),
      model: () =>
        this.#current.talk === undefined ? "the model" : modelName(this.#current.talk.opened.agent.model()),
      editFirst: (question) => void this.#guarded(() => this.#editFirst(question)),
      choices: (completing) => {
        if (completing.kind === "command") return commandChoices(this.#commands());
        if (completing.kind === "argument") return this.#arguments.of(completing, this.#commands());
        return this.#current.talk === undefined ? [] : mentionChoices(completing.query, this.#current.talk.opened);
      },
      pasted: (text) => this.#pasted.paste(text),
      clipboard: () => this.#pasted.clipboard(),
      submit: (text) => this.#submit(text),
      compose: async (text) => (await this.#front.outside(() => edit(text, "message.md")))?.replace(/\n$/, ""),
      cancel: () => {
        this.#shellLines.stop();
        desk.cancel();
        void this.#current.talk?.cancel();
      },
      leave: (reason) => this.leave(reason),
      unfold: () => {
        if (!this.#feed.unfold()) this.#front.print([line("Nothing is folded.", { tone: "muted" })]);
      },
      nextMode: () => void this.#guarded(() => this.#current.setMode(following[this.#current.mode])),
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
      loaded: () => this.#current.loaded,
      opened: () => this.#current.opened(),
      snapshots: () => this.#current.snapshots(),
      reopen: (resume) => this.#reopen(resume),
      say: (text) => this.#say(text),
      warn: (text) => this.#warn(text),
      print: (lines) => front.print(lines),
      show: (markdown) => this.#markdown.show(markdown),
      pick: (title, options, focused) => front.pick(title, options, focused),
      confirm: (title, options) => front.confirm(title, options),
      send: (text, parts = []) => this.#send(text, parts),
      edit: (text, name) => front.outside(() => edit(text, name)),
      copy: (text) => front.copy(text),
      shell: (command) => this.#shell(command),
      setTheme: (theme) => front.setTheme(theme),
      setMode: (mode) => this.#current.setMode(mode),
      doctor,
      commands: () => this.#commands(),
      width: () => front.width(),
      leave: () => this.leave(),
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
