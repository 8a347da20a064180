import { Drafts } from '../drafts.ts';
import { RailFilters } from './rail-filters.ts';

/** What a tab of the browser keeps of the person who is logged in, over a reload. */
export class Kept {
  readonly drafts: Drafts;
  readonly filters: RailFilters;

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>) {
    this.drafts = new Drafts(memory);
    this.filters = new RailFilters(memory);
  }

  clear(): void {
    this.drafts.clear();
    this.filters.clear();
  }
}
