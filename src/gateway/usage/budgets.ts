import type { BudgetQuestion, BudgetScope, BudgetState } from '../../../protocol/run-outcome.ts';
import type { Usage } from '../../agent/providers/model.ts';
import type { BudgetedCall, Exhausted, Held, RunBudget } from '../../agent/run/limits/run-budget.ts';
import type { Clock } from '../../clock.ts';
import { toDay } from '../../day.ts';
import type { Ids } from '../../ids.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { until } from '../../timing/until.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Statement, Store } from '../store/store.ts';
import type { BudgetKey, BudgetLimit } from './budget-key.ts';
import {
  amountOf,
  hasDay,
  idOf,
  isShort,
  type LimitOnly,
  type Line,
  lastLimitOf,
  toLimit,
  toLines,
  toQuestion,
  toState,
} from './budget-lines.ts';
import { BudgetQuestions, type FoundQuestion, type Waiter } from './budget-questions.ts';
import { isNone, readLine, readOwn, storeBudget } from './budget-rows.ts';
import { chargeAllBrokenOff } from './reservation-rows.ts';

interface BudgetDeps {
  store: Pick<Store, 'db' | 'commit' | 'machine'>;
  live: Pick<LiveSettings, 'budgets'>;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
}

/** Whose call it is. */
export type Spender = Pick<RunRecord, 'runId' | 'wsId' | 'principal'> & {
  /** The sub-agent of the run that makes it. */
  agentId?: string;
};

/** What the calls in flight hold of one line. */
interface Hold {
  amount: number;
  calls: number;
}

/**
 * The budgets. A call begins only if the most that it and all calls in flight may cost still fits. A call that may not
 * fit waits until it is the only one, so that at most one call goes over a limit.
 */
export class Budgets {
  /** The questions that wait for a person. */
  readonly questions: BudgetQuestions;
  readonly #deps: BudgetDeps;
  /** The own budgets of workstreams. */
  readonly #own = new Map<string, BudgetLimit>();
  readonly #holds = new Map<string, Hold>();
  readonly #turns = createSerialKeys();
  /** The lines that were reported as nearly used up, with the limit of then. */
  readonly #reported = new Map<string, number>();
  /** Resolves when a call in flight has ended. */
  #freed = Promise.withResolvers<void>();

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
    this.questions = new BudgetQuestions(deps.ids);
  }

  /** A run of the previous process waits for this question. Call it before runs continue. */
  restore(found: FoundQuestion, waiter: Waiter): void {
    const { of, key, unit, day = toDay(this.#deps.clock.now()) } = found.budget;
    this.questions.restore(idOf({ of, key, day: hasDay(of) ? day : '', unit }), found, waiter);
  }

  /**
   * Counts the calls of the previous process whose usage never arrived, or of another machine, whose rows `from` reads. Runs
   * before its runs continue.
   */
  async recover(from = this.#deps.store): Promise<void> {
    const { store } = this.#deps;
    await store.commit({ statements: chargeAllBrokenOff(from) });
    for (const { ws_id, tokens, micro_usd } of await readOwn(from)) this.#own.set(ws_id, toLimit(tokens, micro_usd));
  }

  /** Replaces the own budget of a workstream; without limits, removes it. `also`: statements to commit with it. */
  async set(wsId: string, limit: BudgetLimit, also: readonly Statement[] = []): Promise<void> {
    await this.#deps.store.commit({ statements: [storeBudget(wsId, limit), ...also] });
    this.apply(wsId, limit);
  }

  /** The own budget of a workstream; undefined: it has none. */
  ownOf(wsId: string): BudgetLimit | undefined {
    return this.#own.get(wsId);
  }

  /** Lets a budget hold that `storeBudget` has stored. */
  apply(wsId: string, limit: BudgetLimit): void {
    if (isNone(limit)) this.#own.delete(wsId);
    else this.#own.set(wsId, limit);
    this.#wake(); // a call that waits may have room now
  }

  /** The budgets of today, and those of a workstream and its run. */
  async list({ wsId, runId }: { wsId?: string | undefined; runId?: string | undefined }): Promise<BudgetState[]> {
    const { store, clock } = this.#deps;
    const day = toDay(clock.now());
    const used = store.db.selectFrom('usage').select(['principal', 'model']).distinct().where('day', '=', day);
    const today = await used.execute();
    const limits = [
      ...this.#limits({
        day,
        ...(wsId !== undefined && { workstream: wsId }),
        ...(runId !== undefined && { run: runId }),
      }),
      ...[...new Set(today.map(({ model }) => model))].flatMap((model) => this.#limits({ model })),
      ...[...new Set(today.map(({ principal }) => principal))].flatMap((principal) => this.#limits({ principal })),
    ];
    const lines = await Promise.all(limits.map((line) => readLine(store, line)));
    return lines.map(toState);
  }

  /** The budgets that hold for a run. */
  forRun(run: Spender): RunBudget {
    let lines: Line[] = [];
    let latest: { call: BudgetedCall; used: Usage } | undefined;
    return {
      isLimited: (model) => this.#limits(this.#keysOf(run, model)).length > 0,
      reserve: async (call, signal) => {
        const limits = this.#limits(this.#keysOf(run, call.model));
        const admitted = await this.#admit({ run, call, limits, used: latest?.used }, signal);
        if (admitted?.kind !== 'admitted') return admitted;
        lines = admitted.lines;
        const held = this.#held({ call, lines }, signal, (used) => {
          latest = used && { call, used };
        });
        return { ...held, near: this.#nearlyUsed(lines) };
      },
      reserveLast: async (call, declined, signal) => {
        const limits = this.#limits(this.#keysOf(run, call.model));
        const admitted = await this.#admit({ run, call, limits, declined }, signal);
        if (admitted?.kind !== 'admitted') return undefined;
        const held = this.#held({ call, lines: admitted.lines }, signal, () => undefined);
        return { ...held, covers: () => false };
      },
      isShort() {
        const spender = latest;
        return spender !== undefined && lines.some((line) => isShort(line, spender));
      },
    };
  }

  #keysOf({ runId, wsId, principal }: Spender, model: BudgetedCall['model']): Record<BudgetScope, string> {
    const day = toDay(this.#deps.clock.now());
    return { run: runId, workstream: wsId, principal, model: `${model.provider}/${model.modelId}`, day };
  }

  #limits(keys: Partial<Record<BudgetScope, string>>): LimitOnly[] {
    const { live, clock } = this.#deps;
    const today = toDay(clock.now());
    const own = this.#own.get(keys.workstream ?? '');
    return SCOPES.flatMap((of) => {
      const key = keys[of];
      const allowed = (of === 'workstream' && own) || live.budgets[of];
      return key === undefined || !allowed ? [] : toLines({ of, key, day: hasDay(of) ? today : '' }, allowed);
    });
  }

  /** Until no call has ended meanwhile: it holds nothing any more, and what was read may be without what it used. */
  async #readLines(limits: readonly LimitOnly[], call: BudgetedCall): Promise<Line[]> {
    for (;;) {
      const freed = this.#freed;
      const lines: Line[] = [];
      for (const limit of limits) {
        // A call without a price uses no money, whatever is left of it.
        if (amountOf(call.size().most, limit, call) > 0) lines.push(await readLine(this.#deps.store, limit));
      }
      if (freed === this.#freed) return lines;
    }
  }

  /** Waits until there is room, and takes it. One call at a time looks for room, in the order of their arrival. */
  async #admit(asked: Asked, signal: AbortSignal): Promise<Exhausted | Admitted> {
    for (;;) {
      signal.throwIfAborted();
      const freed = this.#freed.promise;
      const found = await this.#turns.run('room', () => this.#findRoom(asked, signal));
      if (found === 'again') continue;
      if (found) return found;
      await until(freed, signal);
    }
  }

  /** Undefined: there may be room when another call ends. `again`: a person answered meanwhile. */
  async #findRoom(asked: Asked, signal: AbortSignal): Promise<Exhausted | Admitted | 'again' | undefined> {
    const { run, call, limits, used, declined } = asked;
    const { answers } = this.questions;
    const lines = await this.#readLines(limits, call);
    signal.throwIfAborted();
    if (answers !== this.questions.answers) return 'again';
    const most = (line: Line) => amountOf(call.size().most, line, call);
    const over = lines.find((line) =>
      declined ? line.spent + most(line) > lastLimitOf(line, declined) : isOver(line),
    );
    if (over) {
      const question = toQuestion(over, call, used);
      const join = (expiresAtMs: number) =>
        answers === this.questions.answers
          ? this.questions.join(
              idOf(over),
              { budget: question, expiresAtMs },
              { runId: run.agentId ?? run.runId, wsId: run.wsId },
            )
          : undefined;
      return { kind: 'exhausted', question, join };
    }
    const hasRoom = lines.every((line) => {
      const { amount, calls } = this.#holds.get(idOf(line)) ?? NOTHING;
      const limit = declined ? lastLimitOf(line, declined) : line.limit;
      return calls === 0 || line.spent + amount + most(line) <= limit;
    });
    if (!hasRoom) return undefined;
    for (const line of lines) this.#hold(line, { amount: most(line), calls: 1 });
    return { kind: 'admitted', lines };
  }

  /** Each line once, and again when its limit was raised. A restart forgets what was reported. */
  #nearlyUsed(lines: readonly Line[]): BudgetState[] {
    const near = lines.filter(
      (line) => line.spent >= line.limit * NEARLY && this.#reported.get(idOf(line)) !== line.limit,
    );
    for (const line of near) {
      this.#reported.delete(idOf(line));
      this.#reported.set(idOf(line), line.limit);
    }
    for (const id of this.#reported.keys()) {
      if (this.#reported.size <= MOST_REPORTED) break;
      this.#reported.delete(id); // the oldest: most belong to runs that are over
    }
    return near.map(toState);
  }

  #held({ call, lines }: { call: BudgetedCall; lines: Line[] }, signal: AbortSignal, onUsed: OnUsed): Held {
    let isHeld = true;
    const free = () => {
      if (!isHeld) return;
      isHeld = false;
      signal.removeEventListener('abort', free);
      for (const line of lines) this.#hold(line, { amount: -amountOf(call.size().most, line, call), calls: -1 });
      this.#wake();
    };
    signal.addEventListener('abort', free, { once: true }); // a worker that never returns holds nothing
    return {
      kind: 'held',
      covers: (used) => lines.every((line) => line.spent + amountOf(used, line, call) < line.limit),
      release(used) {
        onUsed(used);
        free();
      },
      drop: free,
    };
  }

  #hold(line: BudgetKey & Pick<Line, 'unit'>, by: Hold): void {
    const id = idOf(line);
    const { amount, calls } = this.#holds.get(id) ?? NOTHING;
    if (calls + by.calls === 0) this.#holds.delete(id);
    else this.#holds.set(id, { amount: amount + by.amount, calls: calls + by.calls });
  }

  #wake(): void {
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }
}

interface Asked {
  run: Spender;
  call: BudgetedCall;
  limits: LimitOnly[];
  /** By the run's previous call. */
  used?: Usage | undefined;
  /** It is the last call of a run whose person declined this. */
  declined?: BudgetQuestion;
}

interface Admitted {
  kind: 'admitted';
  lines: Line[];
}

/** The share from which a budget is reported as nearly used up. */
const NEARLY = 0.8;
const MOST_REPORTED = 10_000;

const isOver = ({ spent, limit }: Line): boolean => spent >= limit;

type OnUsed = (used: Usage | undefined) => void;

const SCOPES: readonly BudgetScope[] = ['run', 'workstream', 'principal', 'model', 'day'];
const NOTHING: Hold = { amount: 0, calls: 0 };
