import { useSignal } from '@preact/signals';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import { changedTools } from '../../state/servers/server-board.ts';

type Tool = McpServer['tools'][number];

/** The tools that their server describes in another way than the one that was accepted, with both descriptions. */
export function ChangedTools({ desk, server }: { desk: Desk; server: McpServer }) {
  const { servers: board } = agentPanelOf(desk);
  const problem = useSignal<string | undefined>(undefined);
  const changed = changedTools(server);
  if (changed.length === 0 && problem.value === undefined) return null;
  const accept = async (tool: string | undefined) => {
    problem.value = undefined;
    problem.value = await board.accept(server.name, { shown: changed, tool });
    // The buttons that were accepted are gone.
    if (problem.value === undefined) document.getElementById('servers-title')?.focus();
  };
  return (
    <div class="changed-tools">
      <p>
        {`${server.name} describes ${changed.length === 1 ? 'a tool' : `${changed.length} tools`} in another way than the one that was accepted. That may be an update or an attack. Until somebody accepts it, calls ask.`}
      </p>
      {changed.map((tool) => (
        <ChangedTool key={tool.name} tool={tool} onAccept={() => void accept(tool.tool)} />
      ))}
      {changed.length > 1 && (
        <button type="button" onClick={() => void accept(undefined)}>
          {`Accept all ${changed.length} changes`}
        </button>
      )}
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </div>
  );
}

function ChangedTool({ tool, onAccept }: { tool: Tool; onAccept(): void }) {
  const { tool: name, description, inputSchema, changed } = tool;
  if (changed === undefined) return null;
  return (
    <section class="changed-tool" aria-label={`Change of ${toVisibleLine(name)}`}>
      <h4>
        <code>{toVisibleLine(name)}</code>
        <button type="button" aria-label={`Accept ${toVisibleLine(name)}`} onClick={onAccept}>
          Accept
        </button>
      </h4>
      <Versions label="Description" before={description} after={changed.description} />
      <Versions label="Arguments" before={toPretty(inputSchema)} after={toPretty(changed.inputSchema)} />
    </section>
  );
}

/** Both versions of a text; nothing if they are the same. */
function Versions({ label, before, after }: { label: string; before: string; after: string }) {
  if (before === after) return <p class="account-facts">{`${label}: unchanged`}</p>;
  return (
    <dl class="versions">
      {[['accepted', before] as const, ['now', after] as const].map(([word, text]) => (
        <div key={word} class={`version-${word}`}>
          <dt>{`${label}, ${word}`}</dt>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard. */}
          <dd tabIndex={0}>{text === '' ? '(empty)' : toVisibleText(text)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** With one argument per line, so that a difference can be seen. */
function toPretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json; // as it is
  }
}

/** All tools of a server. The list is drawn once it is opened, because it may be long. */
export function ToolList({ server: { name, tools } }: { server: McpServer }) {
  const isOpen = useSignal(false);
  if (tools.length === 0) return null;
  return (
    <details
      class="account-facts"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary aria-label={`Tools of ${name}`}>{`Tools (${tools.length})`}</summary>
      {isOpen.value && (
        <dl class="tool-list">
          {tools.map((tool) => (
            <div key={tool.name}>
              <dt>
                <code>{toVisibleLine(tool.name)}</code>
                {tool.isGone && <span class="tag">gone</span>}
                {tool.changed && <span class="tag">changed</span>}
              </dt>
              <dd>{toVisibleLine(tool.description)}</dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}
