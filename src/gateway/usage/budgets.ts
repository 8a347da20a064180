import type { BudgetScope, BudgetState } from '../../../protocol/run-outcome.ts';
import type { Usage } from '../../agent/providers/model.ts';
import { microCostOf } from '../../agent/providers/prices/cost.ts';
import type { BudgetedCall, Exhausted, Held, RunBudget } from '../../agent/run/limits/run-budget.ts';
import type { Clock } from '../../clock.ts';
import { toDay } from '../../day.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { until } from '../../timing/until.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Store } from '../store/store.ts';
import type { BudgetKey, BudgetLimit } from './budget-key.ts';
import { readBudget } from './budget-rows.ts';
import { chargeAllBrokenOff } from './reservation-rows.ts';

interface BudgetDeps {
  store: Pick<Store, 'db' | 'commit'>;
  live: Pick<LiveSettings, 'budgets'>;
  clock: Clock;
}

type Spender = Pick<RunRecord, 'runId' | 'wsId' | 'principal'>;

/** One limit of a budget, in tokens or in millionths of a US dollar. */
interface Line extends BudgetKey {
  unit: BudgetState['unit'];
  limit: number;
  spent: number;
  /** What its average call used; 0 if there was none. */
  usual: number;
  /** What the limit was before persons added to it. */
  base: number;
}

type LimitOnly = Omit<Line, 'spent' | 'usual'>;

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
  readonly #deps: BudgetDeps;
  /** The own budgets of workstreams. */
  readonly #own = new Map<string, BudgetLimit>();
  readonly #holds = new Map<string, Hold>();
  readonly #turns = createSerialKeys();
  /** Resolves when a call in flight has ended. */
  #freed = Promise.withResolvers<void>();

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
  }

  /** Counts the calls of the previous process whose usage never arrived. Runs before its runs continue. */
  async recover(): Promise<void> {
    const { store } = this.#deps;
    await store.commit({ statements: chargeAllBrokenOff() });
    const rows = await store.db.selectFrom('workstream_budgets').selectAll().execute();
    for (const { ws_id, tokens, micro_usd } of rows) this.#own.set(ws_id, toLimit(tokens, micro_usd));
  }

  /** Replaces the own budget of a workstream; without limits, removes it. */
  async set(wsId: string, { tokens, usd }: BudgetLimit): Promise<void> {
    const row = { tokens: tokens ?? null, micro_usd: usd === undefined ? null : toMicro(usd) };
    const isRemoved = tokens === undefined && usd === undefined;
    const upsert = build.insertInto('workstream_budgets').values({ ws_id: wsId, ...row });
    const change = isRemoved
      ? build.deleteFrom('workstream_budgets').where('ws_id', '=', wsId)
      : upsert.onConflict((conflict) => conflict.column('ws_id').doUpdateSet(row));
    await this.#deps.store.commit({ statements: [statementOf(change)] });
    if (isRemoved) this.#own.delete(wsId);
    else this.#own.set(wsId, { tokens, usd });
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
    const lines = await Promise.all(limits.map((line) => this.#read(line)));
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
        const admitted = await this.#admit({ call, limits, used: latest?.used }, signal);
        if (admitted.kind === 'exhausted') return admitted;
        lines = admitted.lines;
        return this.#held({ call, lines }, signal, (used) => {
          latest = used && { call, used };
        });
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

  async #read(line: LimitOnly): Promise<Line> {
    const { spent, turns, more } = await readBudget(this.#deps.store, line);
    const field = line.unit === 'tokens' ? 'tokens' : 'micro';
    const usual = turns === 0 ? 0 : spent[field] / turns;
    return { ...line, limit: line.limit + more[field], spent: spent[field], usual };
  }

  /** Waits until there is room, and takes it. One call at a time looks for room, in the order of their arrival. */
  async #admit(asked: Asked, signal: AbortSignal): Promise<Exhausted | { kind: 'admitted'; lines: Line[] }> {
    for (;;) {
      signal.throwIfAborted();
      const freed = this.#freed.promise;
      const found = await this.#turns.run('room', () => this.#findRoom(asked, signal));
      if (found) return found;
      await until(freed, signal);
    }
  }

  async #findRoom(
    { call, limits, used }: Asked,
    signal: AbortSignal,
  ): Promise<Exhausted | { kind: 'admitted'; lines: Line[] } | undefined> {
    const lines: Line[] = [];
    for (const limit of limits) {
      // A call without a price uses no money, whatever is left of it.
      if (amountOf(call.size().most, limit, call) > 0) lines.push(await this.#read(limit));
    }
    signal.throwIfAborted();
    const over = lines.find(({ spent, limit }) => spent >= limit);
    if (over) {
      const next = used ? amountOf(used, over, call) : over.usual || amountOf(call.size().expected, over, call);
      return { kind: 'exhausted', question: toQuestion(over, next) };
    }
    const hasRoom = lines.every((line) => {
      const hold = this.#holds.get(idOf(line)) ?? NOTHING;
      return hold.calls === 0 || line.spent + hold.amount + amountOf(call.size().most, line, call) <= line.limit;
    });
    if (!hasRoom) return undefined;
    for (const line of lines) this.#hold(line, { amount: amountOf(call.size().most, line, call), calls: 1 });
    return { kind: 'admitted', lines };
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
  call: BudgetedCall;
  limits: LimitOnly[];
  /** By the run's previous call. */
  used: Usage | undefined;
}

type OnUsed = (used: Usage | undefined) => void;

const SCOPES: readonly BudgetScope[] = ['run', 'workstream', 'principal', 'model', 'day'];
const NOTHING: Hold = { amount: 0, calls: 0 };

const idOf = ({ of, key, day, unit }: BudgetKey & Pick<Line, 'unit'>): string => JSON.stringify([of, key, day, unit]);

const amountOf = (usage: Usage, { unit }: Pick<Line, 'unit'>, { model }: BudgetedCall): number => {
  if (unit === 'tokens') return usage.promptTokens + usage.completionTokens;
  return model.price ? microCostOf(usage, model.price) : 0;
};

/** Whether there is room for less than two more calls like the latest one. */
const isShort = (line: Line, { call, used }: { call: BudgetedCall; used: Usage }): boolean => {
  const amount = amountOf(used, line, call);
  return line.limit - line.spent - amount < 2 * amount;
};

/** Asks for a quarter of the budget, or for two more calls if that is more. */
function toQuestion(line: Line, call: number): Exhausted['question'] {
  const { unit, limit, spent, base } = line;
  const step = unit === 'tokens' ? 1_000 : 10_000;
  const more = Math.ceil((spent - limit + Math.max(base / 4, 2 * call)) / step) * step;
  return { ...toState(line), more: fromUnits(more, unit) };
}

const toState = ({ of, key, unit, limit, spent }: Line): BudgetState => ({
  of,
  key,
  unit,
  limit: fromUnits(limit, unit),
  spent: fromUnits(spent, unit),
});

/** Runs and workstreams have no day; what the others count begins anew with each. */
const hasDay = (of: BudgetScope): boolean => of !== 'run' && of !== 'workstream';

function toLines(budget: BudgetKey, { tokens, usd }: BudgetLimit): LimitOnly[] {
  const lines: LimitOnly[] = [];
  if (tokens !== undefined) lines.push({ ...budget, unit: 'tokens', limit: tokens, base: tokens });
  if (usd !== undefined) lines.push({ ...budget, unit: 'usd', limit: toMicro(usd), base: toMicro(usd) });
  return lines;
}

const toMicro = (usd: number): number => Math.round(usd * 1_000_000);
const fromUnits = (amount: number, unit: Line['unit']): number => (unit === 'usd' ? amount / 1_000_000 : amount);

const toLimit = (tokens: number | null, micro: number | null): BudgetLimit => ({
  ...(tokens !== null && { tokens }),
  ...(micro !== null && { usd: micro / 1_000_000 }),
});
