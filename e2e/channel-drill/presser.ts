import { RequestError } from '../../protocol/client/request-error.ts';
import type { Press } from '../checker/channels/chat-evidence.ts';
import type { Random } from '../checker/random.ts';
import type { SeenMessage } from '../support/channels/telegram/chat-room.ts';
import type { Person } from '../support/channels/telegram/person.ts';
import type { TelegramServer } from '../support/channels/telegram-server.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';

const LOOK_MS = 40;

/** Somebody pressed at the same moment. */
function orDecided(error: unknown): false {
  if (error instanceof RequestError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND')) return false;
  throw error;
}

interface PresserScene {
  telegram: TelegramServer;
  people: readonly Person[];
  random: Random;
}

/** Presses buttons for people: approvers and others, once, twice, and long after the decision. */
export class Presser {
  readonly presses: Press[] = [];
  /** The questions that the operator decided elsewhere. */
  readonly operator: string[] = [];
  readonly #scene: PresserScene;
  readonly #seen = new Set<string>();
  readonly #late: { person: Person; messageId: number; data: string }[] = [];
  readonly #over = new AbortController();

  constructor(scene: PresserScene) {
    this.#scene = scene;
    void this.#work();
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  /** Decides what nobody presses: its question may not have arrived, or nobody in its chat may decide. */
  async decideRest({ client: connect }: Pick<DaemonUnderTest, 'client'>): Promise<void> {
    const client = await connect();
    const { approvals } = await client.call('approval.list', {});
    for (const { approvalId } of approvals) {
      const asked = { approvalId, approved: this.#scene.random.chance(0.5) };
      const isFirst = await client.call('approval.resolve', asked).then(() => true, orDecided);
      if (isFirst) this.operator.push(approvalId);
    }
    client.close();
  }

  async #work(): Promise<void> {
    const { people, random } = this.#scene;
    while (!this.#over.signal.aborted) {
      for (const person of people) for (const message of person.chat.sent) this.#lookAt(message, person);
      if (random.chance(0.1)) this.#pressLate();
      await pause(LOOK_MS);
    }
  }

  #lookAt({ messageId, buttons }: SeenMessage, person: Person): void {
    const { random } = this.#scene;
    const key = `${person.id} ${messageId}`;
    if (buttons.length === 0 || this.#seen.has(key)) return;
    this.#seen.add(key);
    const all = buttons.flatMap(({ data }) => data ?? []);
    this.#press(person, { messageId, data: random.pick(all) });
    // Often in the same batch of updates, perhaps with the other button.
    if (random.chance(0.3)) this.#press(person, { messageId, data: random.pick(all) });
    if (random.chance(0.3)) this.#late.push({ person, messageId, data: random.pick(all) });
  }

  /** Somebody presses a button of a question that was decided long ago. */
  #pressLate(): void {
    const late = this.#late.shift();
    if (late) this.#press(late.person, late);
  }

  #press(person: Person, { messageId, data }: { messageId: number; data: string }): void {
    // Nobody waits for the words above the chat: a daemon that dies may owe them.
    void person.pressesData(data, { room: person.chat, messageId }).catch(() => undefined);
    const updateId = String(this.#scene.telegram.updates.pending.at(-1)?.update_id);
    this.presses.push({ updateId, by: String(person.id), data });
  }
}
