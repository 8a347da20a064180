import type { App } from '../../state/app.ts';
import type { Aspect } from '../../state/appearance.ts';

const WORDS = {
  theme: { label: 'Colours', values: { auto: 'As the system', light: 'Light', dark: 'Dark' } },
  contrast: { label: 'Contrast', values: { auto: 'As the system', more: 'High', normal: 'Normal' } },
  density: { label: 'Density', values: { comfortable: 'Comfortable', compact: 'Compact' } },
} as const;
const ASPECTS: readonly Aspect[] = ['theme', 'contrast', 'density'];

/** What the page looks like in this browser. */
export const AppearancePart = ({ app }: { app: App }) => (
  <section class="panel-row account-part" aria-labelledby="appearance-title">
    <h2 id="appearance-title">Appearance</h2>
    <form class="account-form appearance" aria-label="Appearance in this browser">
      {ASPECTS.map((aspect) => (
        <AspectField key={aspect} app={app} aspect={aspect} />
      ))}
    </form>
  </section>
);

function AspectField({ app, aspect }: { app: App; aspect: Aspect }) {
  const choice = app.appearance[aspect];
  const { label, values } = WORDS[aspect];
  return (
    <label>
      {label}
      <select value={choice.current.value} onChange={({ currentTarget }) => choice.choose(currentTarget.value)}>
        {Object.entries(values).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
