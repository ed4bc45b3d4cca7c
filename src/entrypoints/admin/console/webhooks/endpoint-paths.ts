export const ENDPOINTS_PATH = '/admin/console/endpoints';

export const endpointPath = (id: string, part = ''): string => `${ENDPOINTS_PATH}/${id}${part && `/${part}`}`;

export const DELIVERIES_PATH = '/admin/console/deliveries';

export const deliveryPath = (id: string, part = ''): string =>
  `${DELIVERIES_PATH}/${id}${part && `/${part}`}`;
