import type { FastifyRequest } from 'fastify';
import { Form } from '../forms/form.js';

/** The posted form of a route with `takesForm`; a missing body is an empty one. */
export const formOf = ({ body }: FastifyRequest): Form => (body instanceof Form ? body : Form.parse(''));

/** Whether the request is anything but a read, so that no method is forgotten. */
export const isPosted = ({ method }: FastifyRequest): boolean => method !== 'GET' && method !== 'HEAD';
