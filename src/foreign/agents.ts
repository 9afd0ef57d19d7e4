/** The other agents whose sessions can be imported, most used first. */
export const foreignAgents = [
  "claude",
  "codex",
  "gemini",
  "pi",
  "omp",
  "qwen",
  "opencode",
  "copilot",
  "kimi",
  "cline",
  "goose",
  "crush",
] as const;

/** The short name of another agent, as in `claude:ID`. */
export type ForeignAgent = (typeof foreignAgents)[number];

/** The agents' own names. */
export const agentLabels: Readonly<Record<ForeignAgent, string>> = {
  claude: "Claude Code",
  codex: "Codex",
  gemini: "Gemini CLI",
  pi: "pi",
  omp: "omp",
  qwen: "qwen-code",
  opencode: "opencode",
  copilot: "Copilot CLI",
  kimi: "Kimi Code",
  cline: "Cline",
  goose: "goose",
  crush: "crush",
};

/** Whether a word is the short name of an agent. */
export const isForeignAgent = (word: string): word is ForeignAgent => foreignAgents.some((agent) => agent === word);

/** A reference such as `claude:1f2e`: an agent, and the id of one of its sessions or a prefix of it. */
export type ForeignReference = { readonly agent: ForeignAgent; readonly id: string };

/** Parses a reference such as `claude:1f2e`; undefined if the text is anything else. */
export const parseForeignReference = (text: string): ForeignReference | undefined => {
  const [, agent = "", id = ""] = /^([a-z]+):(\S+)$/.exec(text) ?? [];
  return isForeignAgent(agent) ? { agent, id } : undefined;
};
