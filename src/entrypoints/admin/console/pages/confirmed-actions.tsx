import { applyDecorators, Inject, Param, type Type } from '@nestjs/common';
import type { VNode } from 'preact';
import type { OperatorRole } from '#platform/config/operator-role.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import type { FieldErrors, FieldValues } from '#platform/web/forms/field.js';
import type { Outcome } from '../../actions/admin-actions.service.js';
import { waitingFor } from '../console-context.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import type { ConsoleNotice } from '../console-notices.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '../console-pages.decorator.js';
import { attempt } from '../form-attempt.js';
import { ActionConfirmation } from './disconnection.js';
import type { ConsolePage } from './console-layout.js';
import type { SubjectPage } from './subject-page.js';

/** Shown on actions that wait for another admin. */
export const SECOND_ADMIN = 'Nothing is done until another admin approves it.';

/** The limit of counts; beyond it the page says "more than". */
export const COUNTED_UP_TO = 10_001;

/**
 * An action that ends something or gives power. A page explains what happens, after the password was asked for again, and has the button
 * for it.
 */
export interface ConfirmedAction<About, Services> {
  title: string;
  /** Followed by the name. */
  question: string;
  /** Who may do it; by default an admin. */
  least?: OperatorRole;
  consequences(about: About): string[];
  /** Fields of its form, and their values. */
  fields?: VNode;
  values?(about: About): FieldValues;
  notice: ConsoleNotice;
  /** Where it leads; by default to the page of what it is about. */
  goTo?: string;
  work(services: Services, id: string, context: ConsoleContext): Promise<Outcome<unknown>>;
}

/** What the actions are about, such as a user, with the services that they call. */
export interface ActionSubjects<About> {
  /** What the page says about it. */
  about(id: string, context: ConsoleContext): Promise<About>;
  nameOf(about: About): string;
  pathOf(id: string, part?: string): string;
  page(about: About, page: SubjectPage): ConsolePage;
}

interface ActionPlace<Subjects> {
  /** The path of what they are about, and the parameter after it. */
  path: string;
  param: string;
  subjects: Type<Subjects>;
  /** Of the page that explains the action, such as that it reads much. */
  reads?: MethodDecorator[];
}

/** One controller for each action, under its name after the path of what it is about. */
export const confirmedActions = <About, Subjects extends ActionSubjects<About>>(
  { path, param, subjects, reads = [] }: ActionPlace<Subjects>,
  actions: Record<string, ConfirmedAction<About, Subjects>>,
): Type[] =>
  Object.entries(actions).map(([name, action]) => {
    @ConsolePages(`${path}/:${param}/${name}`)
    class ConfirmedActionController {
      constructor(@Inject(subjects) private readonly subjects: Subjects) {}

      @ConsoleGet('', 'asked', action.least)
      @applyDecorators(...reads)
      ask(@Context() context: ConsoleContext, @Param(param) id: string): Promise<ConsoleAnswer> {
        return this.page(context, id);
      }

      @ConsolePost('', 'asked', action.least)
      async perform(@Context() context: ConsoleContext, @Param(param) id: string): Promise<ConsoleAnswer> {
        const { result: outcome, errors } = await attempt(() => action.work(this.subjects, id, context));
        if (errors) return this.page(context, id, errors);
        if (outcome.waiting) return waitingFor(outcome.waiting);
        return { goTo: action.goTo ?? this.subjects.pathOf(id), notice: action.notice };
      }

      private async page(context: ConsoleContext, id: string, errors?: FieldErrors): Promise<ConsoleAnswer> {
        const { subjects } = this;
        const about = await subjects.about(id, context);
        const { title, question, consequences, fields, values } = action;
        const page = subjects.page(about, {
          title,
          children: (
            <ActionConfirmation
              question={
                <>
                  {question} <bdi class="name">{subjects.nameOf(about)}</bdi>?
                </>
              }
              consequences={consequences(about)}
              action={subjects.pathOf(id, name)}
              errors={errors}
              submit={title}
              cancel={subjects.pathOf(id)}
              values={values?.(about)}
            >
              {fields}
            </ActionConfirmation>
          ),
        });
        return { page, status: errors ? (errors.form ? 409 : 400) : 200 };
      }
    }
    return ConfirmedActionController;
  });
