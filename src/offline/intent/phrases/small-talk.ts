import { definePhrase, type Phrase } from "../phrase.ts";

/** Small talk, which needs no tool. */
export const smallTalkPhrases: readonly Phrase[] = [
  definePhrase(
    "(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|day|afternoon|evening))(?: (?:there|parley|you|again|everyone))?",
    () => ({
      type: "greet",
    }),
  ),
  definePhrase("how are you(?: .*)?", () => ({ type: "greet" })),
  definePhrase(
    "(?:many )?(?:thanks?|thank you|thx|cheers|great|nice|perfect|cool|good job|well done|bye|goodbye)(?: .{0,30})?",
    () => ({
      type: "thank",
    }),
  ),
  definePhrase(
    "(?:which|what)(?:'s| is| are)? (?:(?:ai|language) )?(?:model|llm|ai|provider)\\b.*|(?:who|what) (?:exactly )?are you\\b.*|are you .*|what(?:'s| is) your (?:name|model).*|tell me (?:about|who) you.*|introduce yourself",
    () => ({ type: "identity" }),
  ),
  definePhrase(
    "help|what (?:else )?(?:can|could|do) you (?:do|help|know|understand).*|what are you (?:able|capable|good).*|what (?:tools|commands|abilities) (?:do you have|are there|can you use|have you).*|how (?:do|can|should) i (?:use|talk to|work with) (?:you|this|parley).*|what should i (?:ask|try|say).*",
    () => ({ type: "abilities" }),
  ),
  definePhrase(
    "how (?:do|can|could|would) i (?:add|set|use|get|configure|connect|switch|change|put|enter).*(?:key|provider|model|claude|gpt|gemini|openai|anthropic).*|(?:add|set|configure|connect|use) (?:a |an |my |the )?(?:api )?(?:key|provider|real model)\\b.*|where (?:do|can) i put (?:a |an |my |the )?(?:api )?key.*",
    () => ({ type: "identity" }),
  ),
  definePhrase(
    "continue|go on|carry on|proceed|keep going|resume|continue (?:with|where) .*|finish (?:it|that|the rest)|do the rest",
    () => ({
      type: "continue",
    }),
  ),
  definePhrase(
    "again|try (?:it |that )?again|retry|once more|one more time|do (?:it|that) again|repeat(?: that| it)?",
    () => ({
      type: "again",
    }),
  ),
  definePhrase(
    "(?:(?:so )?what|why|how)\\b.*\\b(?:fail\\w*|went wrong|go wrong|errors?|broke|break|problem|not work\\w*|refused|cancelled)\\b.*|(?:explain|describe|tell me about)\\b.*\\b(?:errors?|failures?|problem|went wrong|failed)\\b.*",
    ({ quotations, clause }) =>
      /\S\.[a-z]{1,5}\b|\//i.test(quotations.unquote(clause)) || /^(?:what|which) (?:files|lines)/i.test(clause)
        ? undefined
        : { type: "explain" },
  ),
];
