/** What is wrong with a call, in words for the model: a refusal while it is prepared, an error outcome while it runs. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem';
}
