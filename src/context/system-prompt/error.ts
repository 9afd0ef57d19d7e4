/** A system prompt that was requested and cannot be read, or cannot be written where it should be. */
export class SystemPromptError extends Error {
  override readonly name = "SystemPromptError";
}
