import { render } from 'preact';
import { useState } from 'preact/hooks';
import { Appearance, type Aspect } from '../state/appearance.ts';
import { Controls } from './controls.tsx';
import { openExampleApp } from './example-app.ts';
import { Lists } from './lists.tsx';
import { Talk } from './talk.tsx';

const appearance = new Appearance({
  memory: localStorage,
  asksForContrast: () => window.matchMedia('(prefers-contrast: more)').matches,
  apply(aspect, value) {
    document.documentElement.dataset[aspect] = value;
  },
});
const ASPECTS: readonly Aspect[] = ['theme', 'contrast', 'density'];

/** The switches of the whole gallery: colours, contrast and density. */
function Switches() {
  const [, redraw] = useState(0);
  return (
    <form class="gallery-switches" aria-label="Appearance">
      {ASPECTS.map((aspect) => {
        const choice = appearance[aspect];
        return (
          <label key={aspect}>
            {aspect}{' '}
            <select
              value={choice.current.value}
              onChange={({ currentTarget }) => {
                choice.choose(currentTarget.value);
                redraw((count) => count + 1);
              }}
            >
              {choice.values.map((value) => (
                <option key={value}>{value}</option>
              ))}
            </select>
          </label>
        );
      })}
    </form>
  );
}

appearance.follow();
const example = await openExampleApp();
const root = document.getElementById('gallery');
if (root)
  render(
    <>
      <Switches />
      <Controls />
      <Talk {...example} />
      <Lists />
    </>,
    root,
  );
