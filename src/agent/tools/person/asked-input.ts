import type { AskedQuestion } from '../../../../protocol/events/questions/asked-question.ts';

/** A question to the person that comes up while a call runs, such as one of a tool server. */
export interface AskedInput {
  /** Who asks, in one line. */
  from: string;
  question: AskedQuestion;
  /** 0, and one more each time the call goes on after answers. */
  round: number;
  /** What the call goes on with after a restart; absent: nothing, because it then has to begin again. */
  resume?: string;
}

/** `denied`: a person refused. `left`: nobody can answer, or nobody did in time. */
export type GivenInput =
  | { kind: 'answered'; answer: { text?: string; choice?: string } }
  | { kind: 'denied' }
  | { kind: 'left' };

/** How a call asks the person while it runs. */
export interface InputDesk {
  /** Stores the question, and waits for the answer. Rejects with the reason of the signal; the question is then withdrawn. */
  ask(asked: AskedInput, signal: AbortSignal): Promise<GivenInput>;
  /** A restart interrupted the call while such a question waited: it goes on from here. */
  resumed: { round: number; resume: string } | undefined;
}
