import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { refusalOf } from '../../state/accounts/refusal.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import type { Installed } from '../../state/skills/skill-board.ts';
import { type OfferedSkill, SkillSearch } from '../../state/skills/skill-search.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { fieldsOf } from '../form-fields.ts';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { TextField } from '../servers/server-fields.tsx';

interface SourceDialogProps {
  desk: Desk;
  onClose(): void;
}

/** What an installation has come to: what was installed, or why nothing was. */
type Outcome = { installed: Installed } | { problem: string };
type Source = Parameters<ReturnType<typeof agentPanelOf>['skills']['install']>[0];

/** Searches the directory of skills, and installs skills from it or from an address. */
export function SourceDialog({ desk, onClose }: SourceDialogProps) {
  const { skills: board } = agentPanelOf(desk);
  const directory = useMemo(() => new SkillSearch(desk.client), [desk]);
  const outcome = useSignal<Outcome | undefined>(undefined);
  const busy = useSignal<string | undefined>(undefined);
  const report = useRef<HTMLDivElement>(null);
  // It may be below the end of a long list.
  useLayoutEffect(() => {
    if (outcome.value !== undefined) report.current?.scrollIntoView({ block: 'nearest' });
  }, [outcome.value]);
  const install = async (from: Source) => {
    if (busy.peek() !== undefined) return;
    outcome.value = undefined;
    busy.value = 'url' in from ? from.url : from.sourceSkillId;
    try {
      outcome.value = { installed: await board.install(from) };
    } catch (error) {
      outcome.value = { problem: refusalOf(error) };
    }
    busy.value = undefined;
    if (directory.found.peek() !== undefined) void directory.again();
  };
  return (
    <Dialog title="Skills of others" onClose={onClose}>
      <form
        class="server-form registry-search"
        onSubmit={(event) => {
          event.preventDefault();
          void directory.search(fieldsOf(event.currentTarget).query ?? '');
        }}
      >
        <p class="soft">
          Anybody can publish a skill. It is scanned and stored, and nothing of it runs; models load it only after you
          have read it and changed its use.
        </p>
        <TextField
          name="query"
          label="Words"
          value={undefined}
          placeholder="such as release notes"
          maxLength={256}
          autofocus
        />
        <button type="submit" class="primary">
          Search
        </button>
      </form>
      <ReadingNotice of={[directory.reading]} />
      <Offers directory={directory} busy={busy.value} onInstall={(id) => void install({ sourceSkillId: id })} />
      <AddressForm busy={busy.value !== undefined} onInstall={(from) => void install(from)} />
      <div class="skill-files" ref={report}>
        <div role="status">{outcome.value && 'installed' in outcome.value && <Report {...outcome.value} />}</div>
        <p class="problem" role="alert">
          {outcome.value && 'problem' in outcome.value && toVisibleLine(outcome.value.problem)}
        </p>
      </div>
    </Dialog>
  );
}

interface OffersProps {
  directory: SkillSearch;
  /** What is being installed. */
  busy: string | undefined;
  onInstall(id: string): void;
}

function Offers({ directory, busy, onInstall }: OffersProps) {
  const found = directory.found.value;
  const isSearching = directory.reading.isReading.value && found === undefined;
  const count = found && (toCount(found.length, 'skill') || 'The directory has no such skill.');
  return (
    <>
      <p class="registry-count soft" role="status">
        {isSearching ? 'Searching…' : count}
      </p>
      <ul class="registry-results" aria-label="Skills of the directory">
        {found?.map((offer) => (
          <Offer key={offer.id} offer={offer} isBusy={busy === offer.id} onInstall={() => onInstall(offer.id)} />
        ))}
      </ul>
    </>
  );
}

function Offer({ offer, isBusy, onInstall }: { offer: OfferedSkill; isBusy: boolean; onInstall(): void }) {
  const { id, name, description, author, source, sourceUrl, installCount, isInstalled, tier } = offer;
  return (
    <li>
      <div class="registry-choice">
        <span>
          <h3>
            {toVisibleLine(name)}
            {isInstalled && <span class="tag">installed</span>}
            {tier !== undefined && <span class={`tag tier tier-${tier}`}>{tier}</span>}
          </h3>
          <span class="account-facts">
            {`by ${toVisibleLine(author)} · `}
            {/^https:\/\//.test(sourceUrl) ? (
              <a href={sourceUrl} target="_blank" rel="noopener noreferrer">
                {toVisibleLine(source)}
              </a>
            ) : (
              toVisibleLine(source)
            )}
            {installCount > 0 && ` · ${toCount(installCount, 'installation')}`}
          </span>
        </span>
        {!isInstalled && (
          <button type="button" aria-label={`Install ${toVisibleLine(id)}`} aria-disabled={isBusy} onClick={onInstall}>
            {isBusy ? 'Installing…' : 'Install'}
          </button>
        )}
      </div>
      {description !== '' && <p>{toVisibleLine(description)}</p>}
    </li>
  );
}

/** Skills that no directory lists. */
const AddressForm = ({
  busy,
  onInstall,
}: {
  busy: boolean;
  onInstall(from: { url: string; digest?: string }): void;
}) => (
  <form
    class="server-form"
    onSubmit={(event) => {
      event.preventDefault();
      const { url = '', digest = '' } = fieldsOf(event.currentTarget);
      onInstall({ url: url.trim(), ...(digest.trim() !== '' && { digest: digest.trim() }) });
    }}
  >
    <TextField
      name="url"
      label="Or an address on GitHub: a repository, a folder in it, or a SKILL.md"
      value={undefined}
      placeholder="https://github.com/owner/repository/tree/main/skills/name"
      inputMode="url"
      required
    />
    <TextField
      name="digest"
      label="SHA-256 that it must have (optional)"
      value={undefined}
      placeholder="nothing else is installed then"
      maxLength={64}
    />
    <footer>
      <button type="submit" disabled={busy}>
        {busy ? 'Installing…' : 'Install from the address'}
      </button>
    </footer>
  </form>
);

const REASONS: Record<Installed['skipped'][number]['reason'], string> = {
  'already installed': 'is installed already',
  'name exists': 'another skill has this name',
  conflict: 'the source has two of this name',
  invalid: 'is no valid skill',
};

const Report = ({ installed: { installed, skipped } }: { installed: Installed }) => (
  <dl class="import-report">
    <div>
      <dt>Installed</dt>
      {installed.map(({ skillId, name, scan, digest }) => (
        <dd key={skillId}>
          {`${toVisibleLine(name)}: scan `}
          <span class={`tier tier-${scan.tier}`}>{scan.tier}</span>
          {`, SHA-256 ${digest}`}
        </dd>
      ))}
    </div>
    {skipped.length > 0 && (
      <div>
        <dt>Not installed</dt>
        {skipped.map(({ name, reason, problem }) => (
          <dd key={name}>
            {toVisibleLine([`${name}: ${REASONS[reason]}`, problem].filter((text) => text !== undefined).join(', '))}
          </dd>
        ))}
      </div>
    )}
  </dl>
);
