import type { Clock } from '../../../../src/clock.ts';
import type { Params } from './params.ts';

/**
 * What goes wrong with a call. Before it is carried out: `stall` (no answer), `reset`, `bad-gateway`, `unauthorized`,
 * `conflict`, `limit` (429), `refuse` (400) and `slow` (then it is carried out). After it was carried out: `stall-after`,
 * `reset-after`, `bad-gateway-after`, `truncated` (half of the JSON), `cut` (the connection closes in the answer).
 */
export type Fault =
  | { kind: 'stall' | 'stall-after' | 'reset' | 'reset-after' | 'bad-gateway' | 'bad-gateway-after' }
  | { kind: 'truncated' | 'cut' | 'unauthorized' | 'conflict' }
  | { kind: 'slow'; ms: number }
  | { kind: 'limit'; seconds: number }
  | { kind: 'refuse'; description: string };

interface Rule {
  method: string;
  fault: Fault;
  isFor(params: Params): boolean;
  timesLeft: number;
  untilMs: number;
}

interface FaultOptions {
  /** How often. Default: once, or always if there is `forMs`. */
  times?: number;
  /** How long, by the server's clock. */
  forMs?: number;
  /** Only calls whose `chat_id` is this. */
  chat?: number;
}

/** Faults on demand, for the next calls of a method; `*` means any, and `download` the files. The newest rule wins. */
export class ScriptedFaults {
  readonly #clock: Pick<Clock, 'now'>;
  #rules: Rule[] = [];

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  add(method: string, fault: Fault, { times, forMs, chat }: FaultOptions = {}): void {
    this.#rules.unshift({
      method: method.toLowerCase(),
      fault,
      isFor: (params) => chat === undefined || params.text('chat_id') === String(chat),
      timesLeft: times ?? (forMs === undefined ? 1 : Number.POSITIVE_INFINITY),
      untilMs: forMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() + forMs,
    });
  }

  /** Ends all faults, or those of a method. */
  clear(method?: string): void {
    this.#rules = method === undefined ? [] : this.#rules.filter((rule) => rule.method !== method.toLowerCase());
  }

  /** The fault of this call, if it has one. */
  take(method: string, params: Params): Fault | undefined {
    const nowMs = this.#clock.now();
    this.#rules = this.#rules.filter(({ timesLeft, untilMs }) => timesLeft > 0 && nowMs < untilMs);
    const rule = this.#rules.find((one) => ['*', method.toLowerCase()].includes(one.method) && one.isFor(params));
    if (rule) rule.timesLeft--;
    return rule?.fault;
  }
}
