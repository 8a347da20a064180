import type { Message } from '../../message.ts';
import type { ReadTaint } from '../approval/taint.ts';
import type { RunContext } from '../run-context.ts';
import { askAside } from './aside.ts';
import { cutPlan, isPlan, problemOf } from './plan-text.ts';
import { readingTools, runReading } from './reading-call.ts';

const MOST_TURNS = 40;
/** From this share of the window on, a planner has to write its plan. */
const FULL = 0.7;

/** What the next plan is about. */
export interface Wish {
  goal: string;
  /** The plan that a person did not accept yet, and what they said about it. */
  before?: { content: string; feedback: string };
}

/** A planner that could not do its work. */
export class PlannerFailed extends Error {
  override readonly name = 'PlannerFailed';
}

/**
 * Explores the working directory in a context of its own and writes a plan. It may only read. A restart in its middle
 * begins it anew, which does no harm.
 */
export class Planner {
  readonly #run: RunContext;
  readonly #callId: string;
  readonly #messages: Message[] = [];
  #taint: ReadTaint | undefined;

  constructor(run: RunContext, callId: string) {
    this.#run = run;
    this.#callId = callId;
  }

  /** What the plans bring into the conversation that nobody trusts. */
  get taint(): ReadTaint | undefined {
    return this.#taint;
  }

  /** Throws PlannerFailed, ProviderError and BudgetUsedUp. */
  async write(wish: Wish): Promise<string> {
    const isKnown = this.#messages.length > 0;
    this.#say(isKnown && wish.before ? revised(wish.before.feedback) : toQuestion(wish));
    const first = await this.#explore();
    const problem = problemOf(first);
    if (problem === undefined) return cutPlan(first);
    this.#say(`${problem} ${FORM}`);
    const second = await this.#explore();
    const written = isPlan(second) ? second : first;
    if (!isPlan(written)) throw new PlannerFailed('The planner wrote no plan, although it was asked twice.');
    return cutPlan(written);
  }

  #say(content: string): void {
    this.#messages.push({ role: 'user', content });
  }

  /** Turns until the model calls no more tools. Returns its last words. */
  async #explore(): Promise<string> {
    const run = this.#run;
    const asked = { system: toSystem(run), tools: readingTools(run), messages: this.#messages };
    for (let turn = 1; turn <= MOST_TURNS + 1; turn++) {
      const { message, fullness } = await askAside(run, asked);
      this.#messages.push(message);
      if (message.toolCalls.length === 0) return message.content.trim();
      const isLast = turn >= MOST_TURNS || fullness >= FULL;
      for (const call of message.toolCalls) {
        run.signal.throwIfAborted();
        const { message: result, taint } = await runReading(
          { run, callId: this.#callId, messages: this.#messages },
          call,
        );
        this.#taint ??= taint;
        this.#messages.push(result);
      }
      if (isLast) this.#say(ENOUGH);
    }
    throw new PlannerFailed(`The planner was still exploring after ${MOST_TURNS} turns. Give it a smaller goal.`);
  }
}

/** The same instructions and facts as the conversation has. */
const toSystem = (run: RunContext): string => `${run.prefix()?.system ?? ''}\n\n${PLANNER}`.trim();

const FORM = [
  'Answer with the whole plan in Markdown and nothing else, under exactly these headings:',
  '"## Goal", "## Current State" (what is there now, with the files that you read), "## Plan" (a numbered list of steps,',
  'each small enough to check, with files and commands) and "## Risks".',
].join(' ');

const PLANNER = [
  'You are planning now. Another agent asked you for a plan, which a person reviews before anything is done.',
  'Explore the working directory first. You can only read: calls that change or run anything else are refused. Nobody answers questions; name open ones under "Risks".',
  FORM,
].join('\n');

const ENOUGH = `There is no room to explore further. Write the plan now, without further calls. ${FORM}`;

const toQuestion = ({ goal, before }: Wish): string =>
  [`Plan this:\n${goal}`, ...(before ? [`Your plan so far:\n${before.content}`, revised(before.feedback)] : [])].join(
    '\n\n',
  );

const revised = (feedback: string): string =>
  `The person wants a different plan and says:\n${feedback}\n\nExplore further if you need to. ${FORM}`;
