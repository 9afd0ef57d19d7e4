import { mayHaveIde } from "../../../ide/places.ts";
import type { AppParts } from "../app-parts.ts";
import { printInfo } from "../transcript/message.ts";
import type { IdeClient } from "./ide-client.ts";

/** Loads the client of the user's editor once it is needed. */
export class IdeConnection {
  readonly #parts: AppParts;
  #client: IdeClient | undefined;

  constructor(parts: AppParts) {
    this.#parts = parts;
  }

  /** The client, if it is loaded. */
  get client(): IdeClient | undefined {
    return this.#client;
  }

  /** Connects to the user's editor at start. Loads nothing if there is none. */
  async connectAtStart(): Promise<void> {
    const { settings, policy } = this.#parts.active.loaded;
    const { world } = this.#parts.options;
    if (settings["ide.connect"] === "off" || !policy.trusted || !(await mayHaveIde(world))) return;
    await (await this.load()).connectAutomatically();
  }

  async load(): Promise<IdeClient> {
    const { active, frontEnd, options } = this.#parts;
    const { world, folder } = options;
    const { IdeClient } = await import("./ide-client.ts");
    return (this.#client ??= new IdeClient({
      world,
      folder,
      opened: () => active.chat?.opened,
      info: (text) => printInfo(frontEnd, text),
      onChange: () => frontEnd.update(),
    }));
  }
}
