import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { callerOf, turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { sent } from './take-back-fixture.ts';

/** A turn of a conversation; a failed one has no answer. */
interface Turn {
  asked: string;
  answer?: string;
}

interface Step {
  do: 'say' | 'fail' | 'retry' | 'edit' | 'rewind' | 'remove' | 'clear' | 'crash' | 'die';
  /** Chooses a turn. */
  pick: number;
}

/** A conversation in a gateway, and the same one as a list that is really shortened. */
class Conversation {
  turns: Turn[] = [];
  #said = 0;
  readonly #gateway: WholeGateway;
  readonly #wsId: string;

  constructor(gateway: WholeGateway, wsId: string) {
    this.#gateway = gateway;
    this.#wsId = wsId;
  }

  async play({ do: what, pick }: Step): Promise<void> {
    const chosen = pick % Math.max(1, this.turns.length);
    if (what === 'say' || what === 'fail') return this.#send(this.turns.length, what === 'fail');
    if (what === 'crash') return this.#gateway.crash();
    if (what === 'clear') return this.#clear();
    if (this.turns.length === 0) return;
    if (what === 'retry' || what === 'edit') return this.#again(what === 'edit' ? chosen : this.turns.length - 1, what);
    if (what === 'rewind') return this.#rewind(chosen);
    if (what === 'die') return this.#die(chosen);
    return this.#remove();
  }

  /** Compares every view with the list. */
  async check(): Promise<void> {
    const { messages } = await this.#gateway.call('workstream.history', { wsId: this.#wsId });
    const shown = this.turns.flatMap(({ asked, answer }) => [asked, ...(answer === undefined ? [] : [answer])]);
    assert.deepEqual(
      messages.map(({ content }) => content),
      shown,
    );
    const { workstreams } = await this.#gateway.call('workstream.saved', {});
    assert.equal(workstreams.find(({ wsId }) => wsId === this.#wsId)?.messageCount ?? 0, shown.length);
  }

  /** Sends a message in place of the turns from `index` on. */
  async #send(index: number, fails = false): Promise<void> {
    const asked = `message ${++this.#said}`;
    await this.#answered({ index, asked, fails }, () => this.#gateway.accept(asked).then((run) => run?.ended));
  }

  async #again(index: number, how: 'retry' | 'edit'): Promise<void> {
    const wsId = this.#wsId;
    const asked = how === 'retry' ? (this.turns[index]?.asked ?? '') : `message ${++this.#said}`;
    const seq = how === 'edit' ? await this.#seqOf(index) : 0;
    await this.#answered({ index, asked, fails: false }, () =>
      how === 'retry'
        ? this.#gateway.call('workstream.retry', { wsId })
        : this.#gateway.call('workstream.edit', { wsId, seq, message: asked }),
    );
  }

  /** The model must read the turns before it, without failed ones. */
  async #answered(
    { index, asked, fails }: { index: number; asked: string; fails: boolean },
    send: () => Promise<unknown>,
  ) {
    const answer = `answer ${++this.#said}`;
    this.#gateway.puppet.turn(fails ? new Error('a defect') : answer);
    await send();
    await this.#gateway.isIdle(this.#wsId);
    const before = this.turns.slice(0, index);
    const read = before.flatMap((turn) => (turn.answer === undefined ? [] : [turn.asked, turn.answer]));
    assert.deepEqual(sent(this.#gateway), [...read, asked]);
    this.turns = [...before, fails ? { asked } : { asked, answer }];
  }

  async #rewind(index: number): Promise<void> {
    await this.#gateway.call('workstream.rewind', { wsId: this.#wsId, turns: this.turns.length - index });
    this.turns = this.turns.slice(0, index);
  }

  async #remove(): Promise<void> {
    const failed = this.turns.findIndex(({ answer }) => answer === undefined);
    if (failed < 0) return;
    await this.#gateway.call('workstream.remove', { wsId: this.#wsId, seq: await this.#seqOf(failed) });
    this.turns = this.turns.toSpliced(failed, 1);
  }

  async #clear(): Promise<void> {
    await this.#gateway.call('workstream.command', { wsId: this.#wsId, command: '/clear' });
    this.turns = [];
  }

  /** The process dies while it stores a rewind, of which nothing may be left. */
  async #die(index: number): Promise<void> {
    const gateway = this.#gateway;
    let isDead = false;
    gateway.disk.diesAt = ({ events }) => {
      isDead ||= events?.events.some(({ type }) => type === 'rewound') ?? false;
      return isDead;
    };
    const params = { wsId: this.#wsId, turns: this.turns.length - index };
    void gateway.gateway.dispatch('workstream.rewind', params, callerOf()); // never answered
    await turnsUntil(() => isDead, 'the end of the process');
    await gateway.crash();
  }

  async #seqOf(index: number): Promise<number> {
    const { messages } = await this.#gateway.call('workstream.history', { wsId: this.#wsId });
    return messages.filter(({ role }) => role === 'user')[index]?.seq ?? 0;
  }
}

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(
    ...(['say', 'say', 'say', 'fail', 'retry', 'edit', 'rewind', 'remove', 'clear', 'crash', 'die'] as const),
  ),
  pick: fc.nat(),
});

test('whatever is taken back and whenever the process dies, people and the model see what a list holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await using gateway = await wholeGateway();
      const conversation = new Conversation(gateway, await gateway.main());
      for (const one of steps) {
        await conversation.play(one);
        await conversation.check();
      }
    }),
    { numRuns: 15 },
  );
});
