import type { GatewayError } from '../../../../protocol/errors.ts';
import type { Call, Caller } from '../../call.ts';
import { Elsewhere, following, unreachable } from '../elsewhere.ts';
import type { Link } from '../links/link.ts';
import { type CarriedAnswer, writeCaller } from './carried-call.ts';
import { MERGED } from './merged-answers.ts';

interface ForwardedCall {
  method: string;
  /** As the client sent them. */
  params: unknown;
  caller: Pick<Call, 'audited' | 'momentary'> & Caller;
}

/** Answers calls together with other machines. */
export interface Forwarding {
  /** The answer of `work`, or of the machine that has the workstream; of lists, those of all machines. */
  answer(work: () => unknown, call: ForwardedCall): unknown;
}

/** The workstreams of other machines. */
export interface Far {
  /** The link to a worker; undefined while there is none. */
  linkTo(machine: string): Link | undefined;
  /** The answer to a call about a workstream of a machine to which there is no link. */
  refusal(elsewhere: Elsewhere): GatewayError;
  /** Readers of a log of another machine need to know where it ends. */
  openLogs(machine: string, wsIds: readonly string[]): Promise<void>;
  /** See `EventLog.endings`. */
  endings(): number;
}

interface ForwardingDeps {
  far: Far;
  /** Those that have joined. */
  machines(): string[];
}

export function createForwarding({
  far: { linkTo, refusal, openLogs, endings },
  machines,
}: ForwardingDeps): Forwarding {
  async function ask(machine: string, { method, params, caller }: ForwardedCall): Promise<unknown> {
    const link = linkTo(machine);
    if (link === undefined) throw unreachable(machine);
    const since = endings();
    const call = { method, params, caller: writeCaller(caller) };
    const { signal, interim: onInterim } = caller;
    const answer: CarriedAnswer = await link.ask('call', call, { signal, onInterim }); // by `serveCall`
    caller.momentary(); // the worker has stored its answer
    const { result, followed, isRecorded } = answer;
    if (followed.length > 0)
      await openLogs(
        machine,
        followed.map(({ about }) => about.wsId),
      );
    for (const { about, offset } of followed) caller.subscriptions?.add(about, offset, since);
    if (isRecorded) caller.audited(); // not once more
    return result;
  }

  const elsewhere = (error: unknown, work: () => unknown, call: ForwardedCall): Promise<unknown> =>
    following(error, {
      here: work,
      there(machine, at) {
        if (linkTo(machine) === undefined) throw refusal(at);
        return ask(machine, call);
      },
    });

  function whole(own: unknown, call: ForwardedCall): unknown {
    const merge = MERGED.get(call.method);
    const others = merge === undefined ? [] : machines();
    if (merge === undefined || others.length === 0) return own;
    return Promise.allSettled([own, ...others.map((machine) => ask(machine, call))]).then((answers) =>
      merge(answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))),
    );
  }

  return {
    answer(work, call) {
      let own: unknown;
      try {
        own = work();
      } catch (error) {
        if (error instanceof Elsewhere) return elsewhere(error, work, call);
        throw error;
      }
      if (!(own instanceof Promise)) return whole(own, call);
      return own.then(
        (result) => whole(result, call),
        (error: unknown) => elsewhere(error, work, call),
      );
    },
  };
}
