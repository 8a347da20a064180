/** A problem with a call, worded for the model: a refusal during preparation, an error outcome during execution. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem';
}
