import type { Pins } from './pins.ts';
import type { RailFilters } from './rail-filters.ts';
import type { Removals } from './removals.ts';
import type { SavedFilters } from './saved-filters.ts';

/** What the list of workstreams has besides the workstreams. */
export interface RailParts {
  pins: Pins;
  filters: RailFilters;
  savedFilters: SavedFilters;
  removals: Removals;
}
