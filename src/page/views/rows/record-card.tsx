import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Icon } from '../icons.tsx';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { RemovableRow, type Removal } from './removable-row.tsx';

interface RecordCardProps {
  title: string;
  /** Words behind the title, such as `disabled`. */
  tags: readonly (string | false)[];
  facts: ComponentChildren;
  /** How the labels of the buttons name it. */
  name: string;
  /** Whether it can only be looked at. */
  isFixed?: boolean;
  /** Undefined: the person may not edit it. */
  onEdit: (() => void) | undefined;
  /** Further ones, before the others. */
  buttons?: ComponentChildren;
  /** Undefined: it cannot be switched off. */
  toggle?: Toggle | undefined;
  removal: Omit<Removal, 'name'> | undefined;
  /** Below the row. */
  children?: ComponentChildren;
}

interface Toggle {
  isOn: boolean;
  /** Returns an error message, or undefined on success. */
  set(isOn: boolean): Promise<string | undefined>;
}

/** A record of an administrator’s list, with buttons to edit it, switch it off and delete it. */
export function RecordCard(props: RecordCardProps) {
  const { title, tags, facts, name, isFixed = false, onEdit, buttons, toggle, removal, children } = props;
  const problem = useSignal<string | undefined>(undefined);
  return (
    <RemovableRow class="panel-row" removal={removal && { ...removal, name }}>
      {(removeButton) => (
        <>
          <div class="account-row">
            <div class="node-what">
              <h3>
                <ClaimedText text={title} />
                {tags.map((tag) => tag !== false && <span class="tag">{tag}</span>)}
              </h3>
              <p class="account-facts">{facts}</p>
            </div>
            <div class="row-actions">
              {buttons}
              {toggle && (
                <ToggleButton
                  {...toggle}
                  name={name}
                  onProblem={(text) => {
                    problem.value = text;
                  }}
                />
              )}
              {onEdit && <EditButton name={name} isFixed={isFixed} onEdit={onEdit} />}
              {removeButton}
            </div>
          </div>
          <p class="problem" role="alert">
            {problem.value}
          </p>
          {children}
        </>
      )}
    </RemovableRow>
  );
}

interface ToggleButtonProps extends Toggle {
  name: string;
  onProblem(text: string | undefined): void;
}

function ToggleButton({ isOn, set, name, onProblem }: ToggleButtonProps) {
  const verb = isOn ? 'Disable' : 'Enable';
  return (
    <button type="button" class="quiet" aria-label={`${verb} ${name}`} onClick={() => void set(!isOn).then(onProblem)}>
      {verb}
    </button>
  );
}

function EditButton({ name, isFixed, onEdit }: { name: string; isFixed: boolean; onEdit(): void }) {
  const verb = isFixed ? 'Show' : 'Edit';
  return (
    <button
      type="button"
      class={`quiet ${isFixed ? '' : 'icon-only'}`}
      aria-label={`${verb} ${name}`}
      title={verb}
      onClick={onEdit}
    >
      {isFixed ? verb : <Icon name="pencil" />}
    </button>
  );
}
