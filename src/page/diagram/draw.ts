import type { Mermaid, MermaidConfig } from 'mermaid';
import { trimEndOf } from '../../../protocol/text/trimmed-text.ts';
import { type DrawRequest, MAX_SOURCE_CHARS, type Picture } from '../state/diagrams/diagram-messages.ts';

/** Lines between the nodes of a graph. More of them take longer to lay out than anybody waits. */
const MAX_EDGES = 400;

/** What a source may not change by `%%{init: …}%%` or its front matter. */
const SECURE = [
  'secure',
  'securityLevel',
  'startOnLoad',
  'maxTextSize',
  'maxEdges',
  'suppressErrorRendering',
  'dompurifyConfig',
  'htmlLabels',
  'fontFamily',
  'themeCSS',
  'layout',
];

const configOf = (isDark: boolean): MermaidConfig => ({
  startOnLoad: false,
  securityLevel: 'strict',
  secure: SECURE,
  suppressErrorRendering: true,
  theme: isDark ? 'dark' : 'default',
  fontFamily: 'system-ui, sans-serif',
  maxTextSize: MAX_SOURCE_CHARS,
  maxEdges: MAX_EDGES,
  // The other layout, ELK, is left out of the build.
  layout: 'dagre',
  // Text of SVG: browsers do not draw HTML in images everywhere.
  htmlLabels: false,
  flowchart: { htmlLabels: false },
});

/** Draws one diagram. Rejects with the reason if its source is none. */
export async function draw(mermaid: Mermaid, { source, isDark }: Omit<DrawRequest, 'id'>): Promise<Picture> {
  mermaid.initialize(configOf(isDark));
  const { svg, diagramType: type } = await mermaid.render('diagram', source);
  const place = document.createElement('div');
  document.body.append(place);
  try {
    // As Mermaid's own sanitiser left it. It becomes part of this frame, whose policy runs nothing of it.
    place.innerHTML = svg;
    const element = place.querySelector('svg');
    if (element === null) throw new Error('The diagram is empty.');
    return { kind: 'picture', type, ...toPicture(element) };
  } finally {
    place.remove();
  }
}

/** As XML, which images have to be, and with a size of its own. */
function toPicture(element: SVGSVGElement): Omit<Picture, 'kind' | 'type'> {
  const { width, height } = element.viewBox.baseVal;
  element.setAttribute('width', `${width}`);
  element.setAttribute('height', `${height}`);
  element.removeAttribute('style');
  // Images run no scripts and follow no links; what is not there needs no browser that knows that.
  for (const script of element.querySelectorAll('script')) script.remove();
  for (const link of element.querySelectorAll('a'))
    for (const name of link.getAttributeNames().filter((one) => one.endsWith('href'))) link.removeAttribute(name);
  const textOf = (name: string) => element.querySelector(`:scope > ${name}`)?.textContent ?? '';
  const words = { title: textOf('title'), description: textOf('desc') };
  return { svg: new XMLSerializer().serializeToString(element), width, height, ...words };
}

const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^No diagram type/, 'Its first line names no kind of diagram.'],
  [/^Edge limit/, `It has more than ${MAX_EDGES} connections.`],
];

/** The first line for people: what follows repeats the source and lists the names of tokens. */
export function toReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [first = ''] = message.split('\n');
  return KNOWN.find(([pattern]) => pattern.test(first))?.[1] ?? `${trimEndOf(first, ':.')}.`;
}
