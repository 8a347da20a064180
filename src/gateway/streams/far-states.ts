import type { GlobalEvent, GlobalEventOf } from '../../../protocol/events/global.ts';
import { type AudienceTerms, audienceFrom } from '../sharing/audience.ts';
import type { Viewer } from '../sharing/perception.ts';

interface FarState {
  state: GlobalEventOf<'ws_state'>;
  terms: AudienceTerms;
}

/** The latest states of workstreams that other machines have, as those tell them. */
export class FarStates {
  readonly #states = new Map<string, FarState>();

  note({ event, terms: { now, before } }: { event: GlobalEvent; terms: AudienceTerms }): void {
    if (event.type === 'ws_closed') this.#close(event.ws_id, before);
    if (event.type !== 'ws_state') return;
    const { run: _, content: _content, ...state } = event; // they are of the moment when it was told
    this.#states.set(event.ws_id, { state, terms: now === undefined ? {} : { now } }); // told to those who gain it only
  }

  /** `left`: it is closed only to those who do not perceive it like this. */
  #close(wsId: string, left: AudienceTerms['before']): void {
    const known = this.#states.get(wsId);
    if (left === undefined) this.forget(wsId);
    else if (known) this.#states.set(wsId, { ...known, terms: { now: left } });
  }

  /** It has come to this machine, or is loaded no more. */
  forget(wsId: string): void {
    this.#states.delete(wsId);
  }

  states(viewer: Viewer): GlobalEventOf<'ws_state'>[] {
    return [...this.#states.values()].flatMap(({ state, terms }) =>
      audienceFrom(terms).includes(viewer) ? [state] : [],
    );
  }
}
