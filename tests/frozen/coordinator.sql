--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: alembic_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);


--
-- Name: invites; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invites (
    code character varying(64) NOT NULL,
    study character varying(100) NOT NULL,
    site character varying(100) NOT NULL,
    expires_at double precision NOT NULL,
    token character varying(64)
);


--
-- Name: logins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.logins (
    cookie character varying(64) NOT NULL,
    person character varying(100) NOT NULL,
    expires_at double precision NOT NULL
);


--
-- Name: people; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.people (
    person character varying(100) NOT NULL,
    password character varying(200) NOT NULL
);


--
-- Name: proposals; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.proposals (
    study character varying(100) NOT NULL,
    round integer NOT NULL,
    site character varying(100) NOT NULL,
    x bytea NOT NULL,
    best bytea,
    reward double precision
);


--
-- Name: sites; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sites (
    study character varying(100) NOT NULL,
    site character varying(100) NOT NULL,
    has_left boolean NOT NULL,
    token character varying(64)
);


--
-- Name: studies; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.studies (
    study character varying(100) NOT NULL,
    agreement text NOT NULL,
    rounds_closed integer NOT NULL,
    deadline double precision,
    opened_at double precision
);


--
-- Data for Name: alembic_version; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.alembic_version (version_num) FROM stdin;
0002
\.


--
-- Data for Name: invites; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.invites (code, study, site, expires_at, token) FROM stdin;
56f1548334a2fccfabefd5550ab393120fa0c6aa1cdceb77caa65de11ae26843	frozen	lab-a	1795604800	e1ea3427f157f206528c954bfb9b342c8958d9fb42da970cea7b4fd4be2b0865
1a42c72a512f09268574c408d1f4d6289fa5c67e7c10d7253f2cc0ab250e0b05	frozen	lab-b	1795604800	6e36aba7e2ab695c96c0be933670ff594116261c908492d6368ddbbe9d61e3e9
e5444f745eed1b40f9992e9a1a02f002f1342c58baa52f7c160291e5e4a00cab	frozen	lab-c	1795604800	e09ff247911d94328fa0c90e6b0f069ba14ffbaac84b889f97e5b06807782f94
\.


--
-- Data for Name: logins; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.logins (cookie, person, expires_at) FROM stdin;
\.


--
-- Data for Name: people; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.people (person, password) FROM stdin;
\.


--
-- Data for Name: proposals; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.proposals (study, round, site, x, best, reward) FROM stdin;
frozen	0	lab-b	\\xeef4e10200000000112151d6000000006edbb66d00000000000000000100000000000000000000000000000000000000	\\xb76ddb3600000000abaaaaaa000000002549922400000000000000000100000000000000000000000000000000000000	\N
frozen	0	lab-a	\\x499224c900000000ce4d6207000000009224499200000000000000000000000000000000010000000000000000000000	\\x3e2a85b700000000b20d174e000000004992244900000000000000000000000000000000010000000000000000000000	\N
frozen	0	lab-c	\\x00000000010000005c012001000000000000000000000000000000000100000000000000000000000000000000000000	\\x930ea0ec00000000db6ea52c000000004992244900000000000000000100000000000000000000000000000000000000	\N
frozen	1	lab-c	\\x8d677f1a00000000ff629863000000002549922400000000000000000100000000000000000000000000000000000000	\\x6982579900000000bd7a464a000000004992244900000000000000000100000000000000000000000000000000000000	\N
frozen	1	lab-a	\\x5208d3e2000000005b9496a7000000000000000000000000000000000000000000000000010000000000000000000000	\\x3e2a85b700000000b20d174e000000004992244900000000000000000000000000000000010000000000000000000000	\N
frozen	1	lab-b	\\xda46b7a90000000019c09d16000000002549922400000000000000000100000000000000000000000000000000000000	\\xd35d0e8700000000c17a464a000000004992244900000000000000000100000000000000000000000000000000000000	\N
frozen	2	lab-a	\\x23309f8600000000c6638536000000004992244900000000000000000000000000000000010000000000000000000000	\\x3e2a85b700000000b20d174e000000004992244900000000000000000000000000000000010000000000000000000000	\N
frozen	2	lab-b	\\x8148c9a600000000ef607e3e000000004992244900000000000000000100000000000000000000000000000000000000	\\xd35d0e8700000000c17a464a000000004992244900000000000000000100000000000000000000000000000000000000	\N
\.


--
-- Data for Name: sites; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.sites (study, site, has_left, token) FROM stdin;
frozen	lab-a	f	e1ea3427f157f206528c954bfb9b342c8958d9fb42da970cea7b4fd4be2b0865
frozen	lab-b	f	6e36aba7e2ab695c96c0be933670ff594116261c908492d6368ddbbe9d61e3e9
frozen	lab-c	f	e09ff247911d94328fa0c90e6b0f069ba14ffbaac84b889f97e5b06807782f94
\.


--
-- Data for Name: studies; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.studies (study, agreement, rounds_closed, deadline, opened_at) FROM stdin;
frozen	{"name": "frozen", "space": {"parameters": {"temperature": {"type": "float", "low": 20.0, "high": 90.0, "unit": "\\u00b0C"}, "acid": {"type": "float", "low": 0.001, "high": 1.0, "log": true}, "hours": {"type": "int", "low": 1, "high": 8}, "solvent": {"type": "choice", "options": ["water", "ethanol", "DMSO"]}}, "constraints": ["temperature + 5*hours <= 100"]}, "sites": ["lab-a", "lab-b", "lab-c"], "horizon": 6, "budgets": {"lab-a": 6, "lab-b": 6, "lab-c": 6}, "rule": "uniform", "graph": "complete", "shares_best": true, "quorum": 1}	2	3600	4102444800
\.


--
-- Name: alembic_version alembic_version_pkc; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);


--
-- Name: invites pk_invites; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT pk_invites PRIMARY KEY (code);


--
-- Name: logins pk_logins; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.logins
    ADD CONSTRAINT pk_logins PRIMARY KEY (cookie);


--
-- Name: people pk_people; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.people
    ADD CONSTRAINT pk_people PRIMARY KEY (person);


--
-- Name: proposals pk_proposals; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT pk_proposals PRIMARY KEY (study, round, site);


--
-- Name: sites pk_sites; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT pk_sites PRIMARY KEY (study, site);


--
-- Name: studies pk_studies; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.studies
    ADD CONSTRAINT pk_studies PRIMARY KEY (study);


--
-- Name: sites uq_sites_token; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT uq_sites_token UNIQUE (token);


--
-- Name: invites fk_invites_sites; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT fk_invites_sites FOREIGN KEY (study, site) REFERENCES public.sites(study, site);


--
-- Name: logins fk_logins_people; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.logins
    ADD CONSTRAINT fk_logins_people FOREIGN KEY (person) REFERENCES public.people(person);


--
-- Name: proposals fk_proposals_sites; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT fk_proposals_sites FOREIGN KEY (study, site) REFERENCES public.sites(study, site);


--
-- Name: sites fk_sites_studies; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT fk_sites_studies FOREIGN KEY (study) REFERENCES public.studies(study);


--
-- PostgreSQL database dump complete
--


