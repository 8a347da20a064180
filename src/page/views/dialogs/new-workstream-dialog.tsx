import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { isWide, MODES, type Mode } from '../../../../protocol/events/modes.ts';
import type { Visibility } from '../../../../protocol/methods/conversation/sharing.ts';
import { MODE_WORDS } from '../../../../protocol/text/mode-words.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { findUsualVisibility } from '../../state/accounts/usual-visibility.ts';
import { isUser } from '../../state/accounts/who.ts';
import type { App, Desk } from '../../state/app.ts';
import { KeptKey } from '../../state/reading/kept-key.ts';
import { useSubmit } from '../use-submit.ts';
import { Dialog } from './dialog.tsx';
import { ImportButton } from './import-button.tsx';

/** Asks for the settings of a new workstream. Every field is optional. */
export function NewWorkstreamDialog({ app, desk, onClose }: { app: App; desk: Desk; onClose(): void }) {
  const creation = useMemo(() => new KeptKey(desk.newKey), [desk]);
  // A second Enter, typed while the first one is answered, would create another.
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const filled = [...new FormData(form)].filter(([, value]) => String(value).trim() !== '');
    const params = Object.fromEntries(filled.map(([name, value]) => [name, String(value).trim()]));
    try {
      await creation.ask(params, (keyed) => desk.workstreams.create(keyed));
      onClose();
      return undefined;
    } catch (error) {
      return wordsOf(error);
    }
  });
  return (
    <Dialog title="New workstream" onClose={onClose}>
      <form onSubmit={onSubmit}>
        <label>
          Name
          <input name="name" maxLength={128} autocomplete="off" autofocus placeholder="generated if empty" />
        </label>
        <label>
          Model
          <input
            name="model"
            maxLength={256}
            autocomplete="off"
            spellcheck={false}
            placeholder={app.health.value?.modelAlias ?? 'an alias, or provider/model'}
          />
        </label>
        <label>
          Working directory
          <input
            name="workdir"
            maxLength={4096}
            autocomplete="off"
            spellcheck={false}
            placeholder="folder for files and commands"
          />
        </label>
        <SkillField desk={desk} />
        <ModeField app={app} />
        {(isUser(app.who.value) || app.auth.value.hasUsers) && <VisibilityField app={app} desk={desk} />}
        {app.rights.coordinate.value && (
          <label>
            Kind
            <select name="kind">
              <option value="">Works itself</option>
              <option value="coordinator">Coordinator: has other workstreams work for it</option>
            </select>
          </label>
        )}
        <p class="problem" role="alert">
          {problem.value}
        </p>
        <footer>
          <ImportButton
            desk={desk}
            onDone={onClose}
            onProblem={(error) => {
              problem.value = wordsOf(error);
            }}
          />
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy.value}>
            Create
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Instructions for all of its conversation. Away where there are no skills. */
function SkillField({ desk }: { desk: Desk }) {
  const names = useSignal<readonly string[]>([]);
  useEffect(() => {
    desk.client.call('skill.list', {}).then(
      ({ skills }) => {
        names.value = skills.map(({ name }) => name);
      },
      () => undefined, // the field stays away
    );
  }, [desk, names]);
  if (names.value.length === 0) return null;
  return (
    <label>
      Skill
      <select name="skill">
        <option value="">None</option>
        {names.value.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

/** What will run there without asking. The wide modes are for those who decide about calls. */
function ModeField({ app }: { app: App }) {
  const chosen = useSignal<Mode>('ask');
  const modes = MODES.filter((mode) => app.rights.decide.value || !isWide(mode));
  return (
    <div>
      <label>
        Mode
        <select
          name="mode"
          aria-describedby="mode-means"
          onChange={({ currentTarget }) => {
            chosen.value = modes[currentTarget.selectedIndex] ?? 'ask';
          }}
        >
          {modes.map((mode) => (
            <option key={mode} value={mode === 'ask' ? '' : mode}>
              {MODE_WORDS[mode].name}
            </option>
          ))}
        </select>
      </label>
      <p id="mode-means" class={chosen.value === 'full' ? 'problem' : 'hint'} role="status">
        {MODE_WORDS[chosen.value].means}
      </p>
    </div>
  );
}

/** Who will see it. Without a choice, the daemon’s setting decides. */
function VisibilityField({ app, desk }: { app: App; desk: Desk }) {
  const usual = useSignal<Visibility | undefined>(undefined);
  const who = app.who.value;
  useEffect(() => {
    findUsualVisibility(desk.client, who).then(
      (found) => {
        usual.value = found;
      },
      () => undefined, // the field stays away, and the daemon decides
    );
  }, [desk, who, usual]);
  if (usual.value === undefined) return null;
  return (
    <label>
      Who sees it
      <select name="visibility">
        <option value="shared" selected={usual.value === 'shared'}>
          Everyone here
        </option>
        <option value="private" selected={usual.value === 'private'}>
          Only me and administrators
        </option>
      </select>
    </label>
  );
}
