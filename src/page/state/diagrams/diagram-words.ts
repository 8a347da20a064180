import type { Picture } from './diagram-messages.ts';

/** By the names of Mermaid. */
const TYPES: readonly (readonly [RegExp, string])[] = [
  [/^(flow|graph)/, 'Flowchart'],
  [/^sequence/, 'Sequence diagram'],
  [/^class/, 'Class diagram'],
  [/^state/, 'State diagram'],
  [/^er/, 'Entity relationship diagram'],
  [/^gantt/, 'Gantt chart'],
  [/^pie/, 'Pie chart'],
  [/^mindmap/, 'Mind map'],
  [/^timeline/, 'Timeline'],
  [/^gitGraph/i, 'Git graph'],
  [/^journey/, 'User journey'],
  [/^quadrant/, 'Quadrant chart'],
  [/^xychart/, 'Chart'],
];

/** What a screen reader says of a diagram: its kind, and the title and the description of its source. */
export function toDiagramName({ type, title, description }: Pick<Picture, 'type' | 'title' | 'description'>): string {
  const kind = TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? 'Diagram';
  const named = title === '' ? kind : `${kind}: ${title}`;
  return description === '' ? named : `${named}. ${description}`;
}
