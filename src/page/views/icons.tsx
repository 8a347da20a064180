const PATHS = {
  gate: 'M6 4.5v9.5M18 4.5v9.5M6 7.5h12M10 7.5v6.5M14 7.5v6.5M5 18.5c2.3-1.8 4.7-1.8 7 0s4.7 1.8 7 0',
  plus: 'M12 5v14M5 12h14',
  close: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  archive: 'M4 7h16v3H4zM6 10v9h12v-9M10 14h4',
  clip: 'M8 12.5l6-6a2.8 2.8 0 0 1 4 4l-7.5 7.5a4.6 4.6 0 0 1-6.5-6.5L12 5.5',
  send: 'M12 19V6M6 11.5 12 5.5l6 6',
  stop: 'M6.5 6.5h11v11h-11z',
  check: 'M5.5 12.5l4.5 4.5 9-10',
  cross: 'M7 7l10 10M17 7 7 17',
  question: 'M9 9.2a3 3 0 1 1 4.2 2.7c-.8.4-1.2 1-1.2 1.9M12 17.2v.1',
  shield: 'M12 4l7 2.5v5c0 4.3-2.9 7.1-7 8.5-4.1-1.4-7-4.2-7-8.5v-5z',
  warning: 'M12 4.5 20.5 19h-17zM12 10.5v4M12 16.7v.1',
  chevron: 'M9 6.5l5.5 5.5L9 17.5',
  previous: 'M15 6.5 9.5 12l5.5 5.5',
  first: 'M17 6.5 11.5 12l5.5 5.5M7.5 6.5v11',
  last: 'M7 6.5l5.5 5.5L7 17.5M16.5 6.5v11',
  down: 'M12 5v13M6 12.5l6 6 6-6',
  up: 'M12 19V6M6 11.5l6-6 6 6',
  folder: 'M4 7.5V18h16V8.5h-8.5l-2-2H4z',
  pencil: 'M5 19l1-4L16.5 4.5l3 3L9 18zM14.5 6.5l3 3',
  bin: 'M5 7.5h14M9.5 7.5V5h5v2.5M7 7.5l.8 11.5h8.4l.8-11.5M10.3 11v5M13.7 11v5',
  exit: 'M14 5h5v14h-5M4.5 12h10M11 8.5l3.5 3.5-3.5 3.5',
  copy: 'M9 9h10v10H9zM15 9V5H5v10h4',
  answer: 'M4.5 5.5h15v10h-8l-4 4v-4h-3zM8 9h8M8 12h5',
  again: 'M18.5 12a6.5 6.5 0 1 1-2-4.7M18.5 4.5v4h-4',
  back: 'M8.5 6.5 4.5 10.5l4 4M5 10.5h9a5 5 0 0 1 0 10h-3',
  fork: 'M7 4v16M7 13c0-3.5 10-2.5 10-7M17 4v2',
  more: 'M6 12v.1M12 12v.1M18 12v.1',
  search: 'M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15 15l5 5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  keyboard: 'M3.5 7h17v10h-17zM7 10.2v.1M10.3 10.2v.1M13.7 10.2v.1M17 10.2v.1M8 13.8h8',
  auto: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 4v16M12 8l5.5-1M12 12h8M12 16l5.5 1',
  light:
    'M12 8.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6M12 3v1.6M12 19.4V21M3 12h1.6M19.4 12H21M5.6 5.6l1.2 1.2M17.2 17.2l1.2 1.2M5.6 18.4l1.2-1.2M17.2 6.8l1.2-1.2',
  dark: 'M19.5 14.2A8 8 0 0 1 9.8 4.5a8 8 0 1 0 9.7 9.7z',
  play: 'M8 5.5v13l10.5-6.5z',
  node: 'M4.5 5h15v10h-15zM9 19h6M12 15v4M8 8.5l2.2 1.6L8 11.7M12 12h3.5',
  chart: 'M5 19V5M5 19h14M9 15.5v-4M13 15.5v-8M17 15.5v-5.5',
  person: 'M12 4.5a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6M4.8 19.5c.6-3.6 3.4-5 7.2-5s6.6 1.4 7.2 5',
  people:
    'M9 5a3.2 3.2 0 1 0 0 6.4A3.2 3.2 0 0 0 9 5M3 18.5c.5-3 2.9-4.3 6-4.3s5.5 1.3 6 4.3M15.5 5.3a3.2 3.2 0 0 1 0 5.9M17.5 14.6c1.9.5 3.2 1.8 3.5 3.9',
  lock: 'M6.5 11h11v8.5h-11zM9 11V8a3 3 0 0 1 6 0v3M12 14.5v2',
  steer: 'M5 5v5a4 4 0 0 0 4 4h9.5M14 9l5 5-5 5',
  sliders: 'M4 8h9.5M17.5 8H20M15.5 6v4M4 16h3.5M11.5 16H20M9.5 14v4',
  globe:
    'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M4 12h16M12 4c2.2 2.2 3.2 5 3.2 8s-1 5.8-3.2 8c-2.2-2.2-3.2-5-3.2-8s1-5.8 3.2-8',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 8v4.5l3 2',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon. Its meaning is always given in words too, next to it or in the label of its button. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
