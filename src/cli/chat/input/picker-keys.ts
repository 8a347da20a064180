import type { Key } from 'node:readline';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Card } from '../cards/card.ts';
import { type CardsView, createCardsView } from '../cards/cards-view.ts';
import { createPicker, type Picker } from './picker.ts';
import { findPicking, type Picking } from './pickings.ts';

interface PickerKeysDeps {
  client: Pick<GatewayClient, 'call'>;
  send(line: string): void;
  draft(text: string): void;
  open(value: string): void;
}

/** The list that is open, and what becomes of the choice. */
export class PickerKeys {
  readonly #deps: PickerKeysDeps;
  #cards: CardsView | undefined;
  #open: { picker: Picker; becomes: Picking['becomes'] } | undefined;

  constructor(deps: PickerKeysDeps) {
    this.#deps = deps;
  }

  /** The list of calls, if it is open. */
  get cards(): CardsView | undefined {
    return this.#cards;
  }

  /** Opens the list of calls. Returns a hint if there are none. */
  openCards(cards: readonly Card[]): string | undefined {
    if (cards.length > 0) this.#cards = createCardsView(cards);
    return cards.length > 0 ? undefined : 'No call has ended yet.';
  }

  get current(): Picker | undefined {
    return this.#open?.picker;
  }

  /** Opens the list of a command without an argument; undefined for every other line. Rejects if it cannot be read. */
  openFor(line: string): Promise<void> | undefined {
    return findPicking(line)?.(this.#deps.client).then((picking) => this.show(picking));
  }

  /** Rejects if there is nothing to choose. */
  async show({ title, choices, becomes }: Picking): Promise<void> {
    if (choices.length === 0) throw new Error(`${title}: there is nothing to choose.`);
    this.#open = { picker: createPicker({ title, choices }), becomes };
  }

  /** Handles a key while a list is open; false while none is. */
  press(text: string | undefined, key: Key): boolean {
    if (this.#cards !== undefined) {
      if (!this.#cards.press(text, key)) this.#cards = undefined;
      return true;
    }
    if (this.#open === undefined) return false;
    const { picker, becomes } = this.#open;
    const step = picker.press(text, key);
    if (step.kind !== 'open') this.#open = undefined;
    if (step.kind === 'picked') this.#deps[becomes](step.choice.value);
    return true;
  }
}
