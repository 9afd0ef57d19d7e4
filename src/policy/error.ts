import { ToolFailure } from "../tools/tool.ts";

/** A refusal by policy, or a failed file, search or shell operation. The message is read by the model and the user. */
export class PolicyError extends ToolFailure {
  declare readonly type: PolicyErrorType;

  constructor(type: PolicyErrorType, message: string, options?: ErrorOptions) {
    super(type, message, options);
  }
}

/** The kinds of error; each is one of the errors a tool can end with. */
export type PolicyErrorType =
  | "policy_violation"
  | "permission_denied"
  | "path_not_in_workspace"
  | "file_not_found"
  | "target_is_directory"
  | "path_is_not_a_directory"
  | "file_too_large"
  | "not_a_regular_file"
  | "read_content_failure"
  | "file_write_failure"
  | "file_modified_conflict"
  | "no_space_left"
  | "grep_execution_error"
  | "shell_execute_error"
  | "timeout";

/** A sandbox is required, but this system has none. */
export class SandboxUnavailableError extends PolicyError {
  constructor(message: string) {
    super("policy_violation", message);
  }
}
