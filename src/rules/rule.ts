/** The five API families a body can be written for. */
export type RuleWire = "gemini" | "anthropic" | "bedrock" | "openai-chat" | "openai-responses";

/** Which API would receive the body. Without a provider the family's own vendor is meant; without a model, its strictest current one. */
export type RuleTarget = { readonly wire: RuleWire; readonly provider?: string; readonly model?: string };

/** Something in a body that an API would refuse or silently lose, or that another API would not accept. */
export type Finding = {
  /** JSON pointer into the body. */
  readonly pointer: string;
  /** Rule id, `<wire>/<what-is-wrong>`. */
  readonly rule: string;
  /** The message, in the vendor's wording. */
  readonly message: string;
  /** `error`: the API refuses or silently loses something. `advice`: accepted there, but not portable. */
  readonly level: "error" | "advice";
  /** The API's reaction: it answers 400, silently drops or misreads something, or nothing. */
  readonly effect: "rejected" | "ignored" | "accepted";
};

/** Reports one violation of the rule being checked. */
export type ReportFinding = (pointer: string, message: string) => void;

/** One rule of one API family. `check` sees a body of any shape and must never throw. */
export type Rule<Body> = {
  readonly id: string;
  readonly level: Finding["level"];
  readonly effect: Finding["effect"];
  readonly check: (body: Body, report: ReportFinding, target: RuleTarget) => void;
};
