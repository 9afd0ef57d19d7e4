/** A failure to list or import sessions of another agent, for the user. */
export class ForeignSessionError extends Error {}
