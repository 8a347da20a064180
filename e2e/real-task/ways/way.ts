/** How a person works with the agent. Each step resolves when the person can see that it has happened. */
export interface Way {
  say(message: string): Promise<void>;
  /** Approves the next question, which is about a call of this tool. */
  allow(tool: string): Promise<void>;
  acceptPlan(): Promise<void>;
  /** The agent has given its answer and rests. */
  answered(text: string): Promise<void>;
  undo(): Promise<void>;
  redo(): Promise<void>;
}
