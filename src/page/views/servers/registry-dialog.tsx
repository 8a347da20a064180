import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { McpRegistryServer } from '../../../../protocol/methods/mcp/mcp-registry.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Desk } from '../../state/app.ts';
import { type RegistryChoice, RegistrySearch } from '../../state/servers/registry-search.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { fieldsOf } from '../form-fields.ts';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { InstallForm } from './install-form.tsx';

interface RegistryDialogProps {
  desk: Desk;
  onClose(): void;
}

/** What is about to be installed. */
interface Chosen {
  server: McpRegistryServer;
  choice: RegistryChoice;
}

/** Searches the registry of tool servers, and installs one of them. */
export function RegistryDialog({ desk, onClose }: RegistryDialogProps) {
  const registry = useMemo(() => new RegistrySearch(desk.client), [desk]);
  const chosen = useSignal<Chosen | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const back = () => {
    chosen.value = undefined;
  };
  // After a return from the form, whose fields are gone.
  useLayoutEffect(() => {
    if (chosen.value === undefined) field.current?.focus();
  }, [chosen.value]);
  if (chosen.value !== undefined)
    return (
      <Dialog key="install" title={`Install ${toVisibleLine(titleOf(chosen.value.server))}`} onClose={onClose}>
        <InstallForm desk={desk} registry={registry} {...chosen.value} onBack={back} onClose={onClose} />
      </Dialog>
    );
  return (
    <Dialog key="search" title="Search the registry" onClose={onClose}>
      <form
        class="server-form registry-search"
        onSubmit={(event) => {
          event.preventDefault();
          const { search = '', type = '' } = fieldsOf(event.currentTarget);
          void registry.search({ search, type });
        }}
      >
        <p class="soft">
          Anybody can publish in the registry. Look at what you install: its texts are those of its author.
        </p>
        <label>
          Words in the name
          <input
            ref={field}
            name="search"
            type="search"
            maxLength={256}
            autocomplete="off"
            placeholder="such as github"
          />
        </label>
        <label>
          Kind
          <select name="type">
            <option value="">all</option>
            <option value="remote">addresses</option>
            <option value="npm">packages of npm</option>
            <option value="pypi">packages of PyPI</option>
          </select>
        </label>
        <button type="submit" class="primary">
          Search
        </button>
      </form>
      <ReadingNotice of={[registry.reading]} />
      <Results
        registry={registry}
        onChoose={(next) => {
          chosen.value = next;
        }}
      />
    </Dialog>
  );
}

const titleOf = ({ title, name }: McpRegistryServer): string => (title === '' ? name : title);

function Results({ registry, onChoose }: { registry: RegistrySearch; onChoose(chosen: Chosen): void }) {
  const found = registry.found.value;
  const isReading = registry.reading.isReading.value;
  const count = toCount(found?.servers.length, 'server');
  return (
    <>
      <p class="registry-count soft" role="status">
        {isReading
          ? 'Searching…'
          : found === undefined
            ? ''
            : count === ''
              ? 'The registry has no such server.'
              : count}
      </p>
      <ul class="registry-results" aria-label="Servers of the registry">
        {found?.servers.map((server) => (
          <Result key={server.digest} server={server} onChoose={(choice) => onChoose({ server, choice })} />
        ))}
      </ul>
      {found?.next !== undefined && (
        <button type="button" class="quiet more" aria-disabled={isReading} onClick={() => void registry.more()}>
          Show more
        </button>
      )}
    </>
  );
}

function Result({ server, onChoose }: { server: McpRegistryServer; onChoose(choice: RegistryChoice): void }) {
  const { name, version, description, repository, websiteUrl, installedVersion, updateAvailable, choices } = server;
  const home = [repository, websiteUrl].find((address) => /^https:\/\//.test(address));
  return (
    <li>
      <h3>
        {toVisibleLine(titleOf(server))}
        {installedVersion !== undefined && (
          <span class="tag">{updateAvailable ? `${installedVersion} is installed` : 'installed'}</span>
        )}
      </h3>
      <p class="account-facts">
        {toVisibleLine([name, `version ${version}`].join(' · '))}
        {home !== undefined && (
          <>
            {' · '}
            <a href={home} target="_blank" rel="noopener noreferrer">
              {toVisibleLine(home)}
            </a>
          </>
        )}
      </p>
      {description !== '' && <p>{toVisibleLine(description)}</p>}
      <ul>
        {choices.map((choice) => (
          <ChoiceRow key={`${choice.source} ${choice.index}`} choice={choice} onChoose={() => onChoose(choice)} />
        ))}
      </ul>
    </li>
  );
}

/** One way to run a server: with a button, or with why it cannot be installed. */
function ChoiceRow({ choice, onChoose }: { choice: RegistryChoice; onChoose(): void }) {
  const { type, target, version, problem } = choice;
  const what = toVisibleLine([type, target, version].filter((word) => word !== '').join(' '));
  return (
    <li class="registry-choice">
      <span>
        <code>{what}</code>
        {problem !== undefined && (
          <span class="account-facts">{` cannot be installed: ${toVisibleLine(problem)}`}</span>
        )}
      </span>
      {problem === undefined && (
        <button type="button" aria-label={`Install ${what}`} onClick={onChoose}>
          Install…
        </button>
      )}
    </li>
  );
}
