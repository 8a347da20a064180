import type { Paint } from './paint.ts';

/** What text is set on. */
export interface Sheet {
  paint: Paint;
  columns: number;
}
