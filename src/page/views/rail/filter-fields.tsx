import type { Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { isUser } from '../../state/accounts/who.ts';
import type { App, Desk } from '../../state/app.ts';
import { type Filter, toChoices, USED_WORDS } from '../../state/rail/rail-filters.ts';
import { SavedList } from '../../state/saved-list.ts';
import { LazyPiece } from '../parts/lazy-views.tsx';
import { SAVED_FILTERS } from '../parts/parts.ts';

interface FilterFieldsProps {
  app: App;
  desk: Desk;
  /** Of the search field. */
  words: Signal<string>;
  id: string;
  /** Puts the fields away. */
  onClose(): void;
}

/** Narrows the list by folder, model, owner and last use. Escape closes it. */
export function FilterFields({ app, desk, words, id, onClose }: FilterFieldsProps) {
  const { owners, rail, workstreams } = desk;
  const chosen = rail.filters.chosen.value;
  const choose = (change: Filter) => rail.filters.choose(change);
  const list = useMemo(() => new SavedList(desk.client), [desk]);
  useEffect(() => void list.search(''), [list]);
  const saved = list.listing.value?.rows;
  const choices = toChoices(workstreams.tabs.value, saved ?? [], chosen);
  useEffect(() => void owners.read(saved ?? []), [owners, saved]);
  const who = app.who.value;
  const hasPeople = isUser(who) || app.auth.value.hasUsers || chosen.userId !== undefined;
  return (
    <fieldset
      id={id}
      class="filter-fields"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
        event.stopPropagation();
        onClose();
      }}
    >
      <legend class="hidden-text">Filters</legend>
      <Field
        label="Folder"
        any="All folders"
        value={chosen.workdir}
        options={choices.folders.map((folder) => [folder, toVisibleLine(folder)])}
        onChoose={(workdir) => choose({ workdir })}
      />
      <Field
        label="Model"
        any="All models"
        value={chosen.modelAlias}
        options={choices.models.map((model) => [model, model])}
        onChoose={(modelAlias) => choose({ modelAlias })}
      />
      {hasPeople && (
        <Field
          label="Person"
          any="Everyone"
          value={chosen.userId}
          options={choices.owners.map((userId) => [userId, owners.nameOf(who, userId)])}
          onChoose={(userId) => choose({ userId })}
        />
      )}
      <Field
        label="Last used"
        any="At any time"
        value={chosen.used}
        options={USED}
        onChoose={(used) => choose({ used })}
      />
      <LazyPiece part={SAVED_FILTERS} desk={desk}>
        {({ SavedFilterList: List }) => <List desk={desk} words={words} />}
      </LazyPiece>
    </fieldset>
  );
}

type Used = keyof typeof USED_WORDS;

const USED: readonly (readonly [Used, string])[] = [
  ['today', USED_WORDS.today],
  ['week', USED_WORDS.week],
  ['month', USED_WORDS.month],
  ['older', USED_WORDS.older],
];

interface FieldProps<T extends string> {
  label: string;
  /** What is chosen without a filter. */
  any: string;
  value: T | undefined;
  options: readonly (readonly [T, string])[];
  onChoose(value: T | undefined): void;
}

/** The first option is no filter. The empty string may be one of the others, so the fields work with numbers. */
const Field = <T extends string>({ label, any, value, options, onChoose }: FieldProps<T>) => (
  <label>
    {label}
    <select onChange={({ currentTarget }) => onChoose(options[currentTarget.selectedIndex - 1]?.[0])}>
      <option selected={value === undefined}>{any}</option>
      {options.map(([option, words]) => (
        <option key={option} selected={option === value}>
          {words}
        </option>
      ))}
    </select>
  </label>
);
